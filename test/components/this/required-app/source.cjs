const ledger = require('./ledger.app.mjs');

module.exports = {
  name: 'Requires an app that is an ES module',
  version: '0.0.1',
  props: { ledger, http: '$.interface.http', account: { propDefinition: [ledger, 'account'] } },
  run() {
    this.$emit([this.ledger.title(), this.account]);
  },
};
