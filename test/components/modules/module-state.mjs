let runs = 0;

export default {
  name: 'Counts in the module',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run() {
    this.$emit({ runs: ++runs, here: import.meta.url });
  },
};
