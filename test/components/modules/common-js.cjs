const { EOL } = require('os');

module.exports = {
  name: 'CommonJS module',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run(event) {
    this.$emit({ ...event, eol: EOL });
  },
};
