export default {
  name: 'Throws instead of responding',
  version: '0.0.1',
  props: { http: { type: '$.interface.http', customResponse: true } },
  run({ body }) {
    if (body.hang) return new Promise(() => setInterval(() => {}, 1000));
    throw new RangeError('nothing to say');
  },
};
