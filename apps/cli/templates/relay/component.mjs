export default {
  name: 'relay',
  key: 'relay',
  version: '0.1.0',
  description: 'Listens to another source, and passes on what is large enough.',
  props: {
    http: '$.interface.http',
    smallest: { type: 'integer', label: 'Smallest amount to pass on', default: 10, min: 0 },
  },
  async run(event) {
    // A request has its content in the body, an event of another source is the content.
    const order = event.method === undefined ? event : event.body;
    if (!(order.amount >= this.smallest)) {
      console.log(`${order.id}: ${order.amount} is below ${this.smallest}`);
      return;
    }
    this.$emit(order, { summary: `${order.id}: ${order.amount}` });
  },
};
