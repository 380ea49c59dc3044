export default {
  name: 'Emits with the strategy unique',
  version: '0.0.1',
  dedupe: 'unique',
  props: { http: '$.interface.http' },
  run({ emits }) {
    for (const [event, metadata] of emits) this.$emit(event, metadata);
  },
};
