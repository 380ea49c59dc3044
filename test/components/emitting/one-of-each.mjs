export default {
  name: 'Emits what it is told',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  async run({ emits }) {
    for (const [event, metadata] of emits) await this.$emit(event, metadata);
  },
};
