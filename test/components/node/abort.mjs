import { setTimeout as sleep } from 'node:timers/promises';

const nameOf = (promise) =>
  promise.then(
    () => 'finished',
    (error) => error.name,
  );

export default {
  name: 'Abort',
  version: '0.0.1',
  props: { http: '$.interface.http', server: 'string' },
  async run() {
    const controller = new AbortController();
    const slept = nameOf(sleep(10_000, null, { signal: controller.signal }));
    const fetched = nameOf(fetch(`${this.server}/never`, { signal: AbortSignal.timeout(100) }));
    controller.abort();
    this.$emit([await slept, await fetched]);
  },
};
