export default defineComponent({
  name: 'Wrapped by a global',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run(event) {
    this.$emit([typeof defineSource, typeof defineAction, typeof defineApp, event]);
  },
});
