import { defineSource } from 'sluice';

export default defineSource({
  name: 'Typed by sluice',
  version: '0.0.1',
  props: {
    http: { type: '$.interface.http', customResponse: true },
    smallest: { type: 'integer', label: 'Smallest amount to emit' },
  },
  methods: {
    isLarge(amount: number): boolean {
      return amount >= this.smallest;
    },
  },
  async run(event) {
    const { amount } = event.body as { amount: number };
    this.http.respond({ status: 202 });
    if (this.isLarge(amount)) this.$emit({ amount: amount.toFixed(2) });
  },
});
