export default {
  name: 'Nothing fits',
  props: { http: '$.interface.http', n: { type: 'integer', min: 9, max: 1 } },
  run() {},
};
