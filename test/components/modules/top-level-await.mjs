const greeting = await Promise.resolve('awaited');

export default {
  name: 'Awaits at its top',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run() {
    this.$emit(greeting);
  },
};
