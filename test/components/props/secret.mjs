export default {
  name: 'Secret',
  version: '0.0.1',
  props: { http: '$.interface.http', password: { type: 'string', secret: true } },
  run() {
    this.$emit(this.password.length);
  },
};
