export default {
  type: 'app',
  app: 'ledger',
  propDefinitions: { account: { type: 'string', default: 'main' } },
  methods: {
    name() {
      return 'ledger';
    },
    title() {
      return `${this.name()} app`;
    },
  },
};
