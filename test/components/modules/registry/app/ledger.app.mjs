import { PAGE } from './common/constants.mjs';

export default {
  type: 'app',
  app: 'ledger',
  propDefinitions: {
    account: { type: 'string', label: 'Account', description: 'The account to watch', default: 'main' },
  },
  methods: {
    _items(from) {
      return Array.from({ length: PAGE }, (_, n) => ({ id: from + n, title: `item ${from + n}` }));
    },
    listItems({ from }) {
      return this._items(from);
    },
  },
};
