import { DEFAULT_POLLING_SOURCE_TIMER_INTERVAL } from '@pipedream/platform';

export default {
  name: 'Timers',
  version: '0.0.1',
  props: {
    poll: { type: '$.interface.timer', default: { intervalSeconds: DEFAULT_POLLING_SOURCE_TIMER_INTERVAL } },
    nightly: { type: '$.interface.timer', static: { cron: '0 3 * * *' } },
  },
  run() {
    this.$emit([this.poll, this.nightly]);
  },
};
