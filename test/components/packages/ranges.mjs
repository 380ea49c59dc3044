import one from 'ranged@~1.2.0';
import two, { sub } from 'ranged@^2.0.0';
import deep from 'ranged@^2.0.0/deep.js';

export default {
  name: 'Ranges',
  version: '0.0.1',
  run() {
    this.$emit([one, two, sub, deep]);
  },
};
