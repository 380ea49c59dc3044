export default {
  name: 'Pages through an API',
  version: '0.0.1',
  dedupe: 'unique',
  props: { timer: '$.interface.timer', db: '$.service.db', server: 'string' },
  methods: {
    async *items() {
      for (let page = 0; page !== null;) {
        const { items, next } = await (await fetch(`${this.server}/pages?page=${page}`)).json();
        yield* items;
        page = next;
      }
    },
  },
  async run({ timestamp }) {
    for await (const id of this.items()) this.$emit({ id }, { id, summary: `Item ${id}`, ts: timestamp * 1000 });
    this.db.set('lastRun', timestamp);
  },
};
