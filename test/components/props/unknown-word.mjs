export default {
  name: 'Unknown word as type',
  version: '0.0.1',
  props: { http: '$.interface.http', shape: { type: 'polygon' } },
  run() {
    this.$emit(this.shape);
  },
};
