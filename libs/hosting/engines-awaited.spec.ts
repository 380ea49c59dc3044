import { describe, expect, it } from '@jest/globals';
import { type Logger, Readiness } from '#libs/telemetry/index.js';
import { type CheckedEngines, EnginesAwaited } from './engines-awaited.js';

const logger = { warn: () => undefined } as unknown as Logger;
const stateOf = async (readiness: Readiness): Promise<string | undefined> =>
  (await readiness.report()).checks['engines'];

describe('engines that are not available', () => {
  it('are tried again until they open, and named by /readyz meanwhile', async () => {
    const readiness = new Readiness();
    const waiting = new EnginesAwaited(logger, readiness, { begun: false });
    let available = false;
    let calls = 0;
    const opened = waiting.until('Kafka', async () => {
      calls++;
      if (!available) throw new Error('connection refused');
      return 'a connection';
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await stateOf(readiness)).toBe('Kafka: connection refused');
    available = true;
    expect(await opened).toBe('a connection');
    expect([calls, await stateOf(readiness)]).toEqual([2, 'ok']);
  });

  it('are not awaited by a process that shuts down', async () => {
    const waiting = new EnginesAwaited(logger, new Readiness(), { begun: true });
    const opened = waiting.until('Kafka', () => Promise.reject(new Error('connection refused')));
    await expect(opened).rejects.toThrow('connection refused');
  });

  it('are named by /readyz when they fail later or do not answer', async () => {
    const readiness = new Readiness();
    const waiting = new EnginesAwaited(logger, readiness, { begun: false });
    const checks: CheckedEngines['checks'] = [
      { name: 'EventStoreDB', ping: async () => undefined },
      { name: 'MongoDB', ping: () => Promise.reject(new Error('no primary')) },
      { name: 'Kafka', ping: () => new Promise(() => undefined) },
    ];
    waiting.watch({ checks });
    expect(await stateOf(readiness)).toBe('MongoDB: no primary; Kafka: no answer within 1500 ms');
  });
});
