export default {
  name: 'Stores too much',
  version: '0.0.1',
  props: { http: '$.interface.http', db: '$.service.db' },
  run() {
    this.db.set('small', 1);
    this.db.set('large', 'x'.repeat(70_000));
  },
};
