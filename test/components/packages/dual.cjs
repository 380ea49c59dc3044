const { kind, default: dual } = require('dual');

module.exports = {
  name: 'Dual',
  version: '0.0.1',
  run() {
    this.$emit({ kind, said: dual() });
  },
};
