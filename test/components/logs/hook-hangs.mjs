export default {
  name: 'Hangs in a hook',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  hooks: {
    deploy() {
      this.$emit('before');
      return new Promise(() => setInterval(() => {}, 1000));
    },
  },
  run() {},
};
