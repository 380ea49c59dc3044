import { setTimeout as sleep } from 'node:timers/promises';
import { AsyncLocalStorage } from 'node:async_hooks';

const storage = new AsyncLocalStorage();

export default {
  name: 'Timers',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  async run() {
    const order = [];
    setImmediate(() => order.push('immediate'));
    process.nextTick(() => order.push('tick'));
    queueMicrotask(() => order.push('microtask'));
    await sleep(5);
    let ticks = 0;
    await new Promise((resolve) => {
      const interval = setInterval(() => {
        if (++ticks < 3) return;
        clearInterval(interval);
        resolve();
      }, 2);
    });
    const kept = await storage.run('kept', async () => {
      await sleep(1);
      return storage.getStore();
    });
    this.$emit([order.sort(), ticks, kept]);
  },
};
