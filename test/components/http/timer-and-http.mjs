export default {
  name: 'Timer and endpoint',
  version: '0.0.1',
  props: { http: '$.interface.http', timer: { type: '$.interface.timer', default: { cron: '0 * * * *' } } },
  run(event) {
    this.$emit(event.timestamp ? ['tick', event.timestamp, this.timer.cron] : ['request', event.method]);
  },
};
