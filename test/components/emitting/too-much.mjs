export default {
  name: 'Emits more than 6 MB',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run() {
    const part = 'x'.repeat(1024 * 1024);
    for (let n = 0; n < 7; n++) this.$emit({ n, part });
  },
};
