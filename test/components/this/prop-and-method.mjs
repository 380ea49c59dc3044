export default {
  name: 'A prop and a method of one name',
  version: '0.0.1',
  props: { http: '$.interface.http', size: { type: 'string', default: 'L' } },
  methods: { size: () => 'from the method' },
  run() {
    this.$emit(this.size);
  },
};
