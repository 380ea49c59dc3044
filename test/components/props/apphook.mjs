const chat = { type: 'app', app: 'chat', methods: { textOf: (message) => message.text.toUpperCase() } };

export default {
  name: 'Events of an app',
  version: '0.0.1',
  props: {
    chat,
    hook: { type: '$.interface.apphook', appProp: 'chat', eventNames: ['message', 'mention'] },
  },
  run(event) {
    this.$emit({ text: this.chat.textOf(event), event, hook: typeof this.hook });
  },
};
