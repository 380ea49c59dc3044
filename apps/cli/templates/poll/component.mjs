export default {
  name: 'poll',
  key: 'poll',
  version: '0.1.0',
  description: 'Asks an API for new items, and emits each once.',
  dedupe: 'unique',
  props: {
    url: {
      type: 'string',
      label: 'Address',
      description: 'Answers with a JSON list of items that have an id.',
      default: 'https://api.example.com/items',
    },
    token: { type: 'string', label: 'Token', secret: true },
    timer: { type: '$.interface.timer', default: { intervalSeconds: 300 } },
  },
  methods: {
    async items() {
      const response = await fetch(this.url, {
        headers: { authorization: `Bearer ${this.token}` },
        signal: AbortSignal.timeout(20_000),
      });
      if (!response.ok) throw new Error(`${this.url} answered ${response.status}`);
      return response.json();
    },
  },
  async run() {
    for (const item of await this.items()) this.$emit(item, { id: item.id, summary: `Item ${item.id}` });
  },
};
