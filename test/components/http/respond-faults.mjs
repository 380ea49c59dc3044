export default {
  name: 'Responds wrongly',
  version: '0.0.1',
  props: { http: { type: '$.interface.http', customResponse: true } },
  run({ body }) {
    this.http.respond(body);
  },
};
