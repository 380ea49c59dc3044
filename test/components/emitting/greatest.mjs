export default {
  name: 'Emits with the strategy greatest',
  version: '0.0.1',
  dedupe: 'greatest',
  props: { http: '$.interface.http' },
  run({ emits }) {
    for (const [event, metadata] of emits) this.$emit(event, metadata);
  },
};
