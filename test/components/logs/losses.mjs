export default {
  name: 'Loses what JSON drops',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run() {
    this.$emit({ found: new Map([['a', 1]]) });
    this.$emit('x', { sumary: 'misspelt' });
  },
};
