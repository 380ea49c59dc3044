export default {
  name: 'Props in short',
  version: '0.0.1',
  props: { http: '$.interface.http', db: '$.service.db', timer: '$.interface.timer', city: 'string' },
  run() {
    this.$emit({ http: Object.keys(this.http), db: Object.keys(this.db), city: this.city });
  },
};
