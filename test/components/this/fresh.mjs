export default {
  name: 'Leaves marks on this',
  version: '0.0.1',
  props: { http: '$.interface.http', list: { type: 'string[]' }, thing: { type: 'object' } },
  run() {
    this.$emit([this.mark, this.list, this.thing]);
    this.mark = true;
    this.list.push('changed');
    this.thing.changed = true;
  },
};
