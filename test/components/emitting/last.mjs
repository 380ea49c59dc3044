export default {
  name: 'Emits with the strategy last',
  version: '0.0.1',
  dedupe: 'last',
  props: { http: '$.interface.http' },
  run({ emits }) {
    for (const [event, metadata] of emits) this.$emit(event, metadata);
  },
};
