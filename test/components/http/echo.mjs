export default {
  name: 'Emits its requests',
  version: '0.0.1',
  props: { http: { type: '$.interface.http', customResponse: true } },
  run(event) {
    this.$emit(event);
  },
};
