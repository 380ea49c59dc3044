export default {
  name: 'Store',
  version: '0.0.1',
  props: { http: '$.interface.http', db: '$.service.db', second: '$.service.db' },
  methods: {
    count() {
      const count = (this.db.get('count') ?? 0) + 1;
      this.db.set('count', count);
      return count;
    },
  },
  async run() {
    const list = ['a'];
    this.db.set('list', list);
    list.push('later');
    const copy = this.db.get('list');
    copy.push('of the copy');
    this.db.set('null', null);
    this.db.set('gone', 1);
    this.db.set('gone', undefined);
    this.db.set('date', new Date(0));
    this.$emit({
      absent: typeof this.db.get('absent'),
      awaited: await this.db.get('list'),
      null: this.db.get('null'),
      gone: typeof this.db.get('gone'),
      same: this.second.get('list'),
      count: this.count(),
    });
  },
};
