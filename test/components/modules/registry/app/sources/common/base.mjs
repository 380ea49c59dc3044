import ledger from '../../ledger.app.mjs';

export default {
  props: {
    ledger,
    db: '$.service.db',
    timer: { type: '$.interface.timer', default: { intervalSeconds: 900 } },
    account: { propDefinition: [ledger, 'account'] },
  },
  methods: {
    _next() {
      return this.db.get('next') ?? 1;
    },
    generateMeta() {
      throw new Error('generateMeta is not implemented');
    },
    emitItem(item) {
      this.$emit(item, this.generateMeta(item));
    },
  },
  hooks: {
    async deploy() {
      this.db.set('account', this.account);
    },
  },
  async run() {
    const items = await this.ledger.listItems({ from: this._next() });
    items.forEach(this.emitItem);
    this.db.set('next', items.at(-1).id + 1);
  },
};
