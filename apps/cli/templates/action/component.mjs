export default {
  name: 'action',
  key: 'action',
  version: '0.1.0',
  type: 'action',
  description: 'Greets somebody.',
  props: {
    who: { type: 'string', label: 'Whom to greet' },
  },
  async run({ $ }) {
    const greeting = `Hello, ${this.who}!`;
    $.export('$summary', greeting);
    return { greeting };
  },
};
