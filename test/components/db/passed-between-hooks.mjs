export default {
  name: 'Passes an id between hooks',
  version: '0.0.1',
  props: { http: '$.interface.http', db: '$.service.db' },
  hooks: {
    deploy() {
      this.db.set('subscription', 's-1');
      this.$emit('from deploy');
    },
    async activate() {
      console.log(`active ${this.db.get('subscription')} at ${this.http.endpoint}`);
    },
    deactivate() {
      this.db.set('subscription', undefined);
    },
  },
  run() {},
};
