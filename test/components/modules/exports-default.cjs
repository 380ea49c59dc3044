Object.defineProperty(exports, '__esModule', { value: true });
exports.default = {
  name: 'Compiled module',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run(event) {
    this.$emit(event);
  },
};
