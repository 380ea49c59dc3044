const names = ['text', 'texts', 'whole', 'wholes', 'flag', 'flags', 'thing', 'anything', 'unset', 'guessed'];

export default {
  name: 'Every type of user input',
  version: '0.0.1',
  props: {
    http: '$.interface.http',
    text: { type: 'string', label: 'Text', description: 'Some **text**' },
    texts: { type: 'string[]' },
    whole: { type: 'integer', min: 1, max: 10 },
    wholes: { type: 'integer[]' },
    flag: { type: 'boolean' },
    flags: { type: 'boolean[]' },
    thing: { type: 'object' },
    anything: { type: 'any' },
    unset: { type: 'string', optional: true },
    guessed: { type: 'integer', default: 5 },
    note: { type: 'alert', alertType: 'warning', content: 'Mind the gap' },
  },
  run() {
    this.$emit(Object.fromEntries(names.map((name) => [name, this[name]])));
    this.$emit([typeof this.unset, 'note' in this]);
  },
};
