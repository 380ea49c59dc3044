export default {
  name: 'timer',
  key: 'timer',
  version: '0.1.0',
  description: 'Emits how often its timer has ticked.',
  props: {
    timer: { type: '$.interface.timer', default: { intervalSeconds: 900 } },
    db: '$.service.db',
  },
  async run() {
    const ticks = (this.db.get('ticks') ?? 0) + 1;
    this.db.set('ticks', ticks);
    this.$emit({ ticks }, { summary: `Tick ${ticks}` });
  },
};
