import app from './component.mjs';

export default {
  name: 'Get an item',
  key: 'app-get-item',
  version: '0.1.0',
  type: 'action',
  props: {
    app,
    id: { type: 'string', label: 'Item' },
  },
  async run() {
    return this.app.get(`/items/${this.id}`);
  },
};
