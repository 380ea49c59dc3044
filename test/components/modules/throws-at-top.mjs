const settings = JSON.parse('{ not json');

export default {
  name: 'Throws while it is loaded',
  props: { http: '$.interface.http' },
  run() {
    this.$emit(settings);
  },
};
