export default {
  name: 'Environment',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run() {
    this.$emit([Object.keys(process.env), process.env.PD_COMPONENT.startsWith('dc_')]);
  },
};
