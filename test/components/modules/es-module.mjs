export default {
  name: 'ES module',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run(event) {
    this.$emit(event);
  },
};
