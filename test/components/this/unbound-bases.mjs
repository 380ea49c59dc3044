const base = {
  methods: {
    tag() {
      return `base of ${this.city}`;
    },
  },
  hooks: {
    activate() {
      this.$emit(['base activate', this.tag()]);
    },
  },
};

export default {
  ...base,
  name: 'Calls a base',
  version: '0.0.1',
  props: { http: '$.interface.http', city: 'string' },
  methods: {
    ...base.methods,
    tag() {
      return `own, and ${base.methods.tag.call(this)}`;
    },
  },
  hooks: {
    async activate() {
      await base.hooks.activate.bind(this)();
    },
  },
  async run(event) {
    await base.hooks.activate.apply(this);
    this.$emit(event);
  },
};
