export default {
  name: 'Props nobody fills in',
  version: '0.0.1',
  props: {
    http: '$.interface.http',
    hidden: { type: 'string', hidden: true },
    disabled: { type: 'string', disabled: true },
    optional: { type: 'boolean', optional: true },
    falsy: { type: 'boolean', default: false },
    empty: { type: 'string', default: '' },
    zero: { type: 'integer', default: 0 },
  },
  run() {
    const { hidden, disabled, optional, falsy, empty, zero } = this;
    this.$emit([hidden, disabled, optional].map((value) => value === undefined));
    this.$emit({ falsy, empty, zero });
  },
};
