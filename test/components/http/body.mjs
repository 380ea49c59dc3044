export default {
  name: 'Emits the body',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run({ body, bodyRaw, isBase64Encoded }) {
    this.$emit({ body, bodyRaw, isBase64Encoded });
  },
};
