export default {
  name: 'Forgets to await',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run({ wait }) {
    if (wait) return new Promise((resolve) => setTimeout(resolve, 200));
    setTimeout(() => this.$emit('too late'), 20);
    this.$emit('in time');
  },
};
