import dual, { kind } from 'dual';

export default {
  name: 'Dual',
  version: '0.0.1',
  run() {
    this.$emit({ kind, said: dual() });
  },
};
