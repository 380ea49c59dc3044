export default {
  name: 'Talks too much',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run({ lines }) {
    for (let n = 0; n < lines; n++) console.log(n);
    this.$emit('done');
  },
};
