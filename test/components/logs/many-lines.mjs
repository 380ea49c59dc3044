export default {
  name: 'Talks too much',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run() {
    for (let n = 0; n < 1_100; n++) console.log(n);
    this.$emit('done');
  },
};
