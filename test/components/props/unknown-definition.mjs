const app = { type: 'app', app: 'ledger', propDefinitions: { folder: { type: 'string' } } };

export default {
  name: 'A definition that is not there',
  props: { http: '$.interface.http', app, file: { propDefinition: [app, 'file'] } },
  run() {},
};
