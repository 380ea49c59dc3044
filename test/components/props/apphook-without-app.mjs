export default {
  name: 'Events of no app',
  version: '0.0.1',
  props: { hook: { type: '$.interface.apphook', appProp: 'chat' } },
  run(event) {
    this.$emit(event);
  },
};
