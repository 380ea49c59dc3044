export default {
  name: 'Counter',
  version: '0.0.1',
  props: { http: '$.interface.http', db: '$.service.db' },
  async run() {
    const count = this.db.get('count') ?? 0;
    await new Promise((resolve) => setTimeout(resolve, 5));
    this.db.set('count', count + 1);
    this.$emit(count + 1);
  },
};
