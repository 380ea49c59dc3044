export default {
  name: 'Slips',
  version: '1',
  props: { http: '$.interface.http', size: { type: 'string', lable: 'Size', optional: true, min: 3 } },
  hook: {},
  hooks: { onDeploy() {} },
  methods: { size() {} },
  run() {},
};
