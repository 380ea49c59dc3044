export default {
  type: 'action',
  key: 'ledger-add-item',
  name: 'Add Item',
  version: '0.0.1',
  props: { title: { type: 'string' }, count: { type: 'integer', optional: true } },
  async run({ $ }) {
    $.export('$summary', this.title);
  },
};
