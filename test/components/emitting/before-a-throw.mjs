export default {
  name: 'Throws after it emitted',
  version: '0.0.1',
  props: { http: '$.interface.http', db: '$.service.db' },
  run() {
    this.$emit('kept');
    this.db.set('kept', true);
    throw new Error('after the emit');
  },
};
