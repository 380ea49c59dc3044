const { defineApp, defineSource } = require('@pipedream/types');

const app = defineApp({ type: 'app', app: 'ledger', methods: { name: () => 'ledger' } });

module.exports = defineSource({
  name: 'Wrappers by require',
  version: '0.0.1',
  props: { app, http: '$.interface.http' },
  run() {
    this.$emit(this.app.name());
  },
});
