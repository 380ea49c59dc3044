import common from '../common/base.mjs';

export default {
  ...common,
  key: 'ledger-new-item',
  name: 'New Item',
  description: 'Emit new event when an item is added.',
  type: 'source',
  version: '0.0.3',
  dedupe: 'unique',
  methods: {
    ...common.methods,
    generateMeta({ id, title }) {
      return { id, summary: `New: ${title}`, ts: Date.UTC(2026, 0, id) };
    },
  },
  hooks: {
    async deploy() {
      await common.hooks.deploy.bind(this)();
      this.db.set('deployed', true);
    },
  },
};
