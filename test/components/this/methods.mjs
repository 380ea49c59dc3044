const app = {
  type: 'app',
  app: 'ledger',
  methods: {
    base() {
      return 'https://ledger.example';
    },
    url(path) {
      return this.base() + path;
    },
    props() {
      return Object.keys(this).sort();
    },
  },
};

export default {
  name: 'Methods',
  version: '0.0.1',
  props: { app, http: '$.interface.http', city: 'string' },
  methods: {
    async each(items, fn) {
      const out = [];
      for (const item of items) out.push(await fn(item));
      return out;
    },
    greet(name) {
      return `${name} in ${this.city}`;
    },
    limit: 5,
  },
  async run() {
    const { url } = this.app;
    this.$emit(await this.each(['a', 'b'], this.greet));
    this.$emit([url('/items'), app.methods.base(), this.limit]);
    this.$emit(this.app.props());
    this.$emit([this.app.$auth.api_key === undefined, typeof this.$auth]);
  },
};
