export default {
  name: 'Listens to other sources',
  version: '1',
  run(event) {
    this.$emit(event);
  },
};
