import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { type MakeHarness } from '../conformance/harness.js';
import { describeStreamLog, type LogUnderTest } from '../conformance/stream-log.suite.js';
import { openPatiently } from './testing/open-patiently.js';
import { testBrokers } from './testing/test-brokers.js';
import { type KafkaStreamLog } from './index.js';

// A broker creates and deletes a topic in tens of milliseconds of disk work, on a machine that may be busy.
jest.setTimeout(120_000);

/** Topics and groups under a separate prefix, removed on close. */
const harness: MakeHarness<LogUnderTest> = async () => {
  const prefix = `conformance-${randomUUID().slice(0, 8)}.`;
  const time = { ahead: 0 };
  const open = (): Promise<KafkaStreamLog> =>
    openPatiently({
      brokers: testBrokers(),
      prefix,
      clientId: 'conformance',
      replicationFactor: 1,
      sweepEveryMs: 500,
      clock: { now: () => Date.now() + time.ahead },
      // A broker that has just started still loads its coordinators, and warns about it.
      onWarning: () => undefined,
    });
  let log = await open();
  const portOf = (): LogUnderTest => ({
    log,
    manyTopics: 100,
    sweepAfter: async (ms) => {
      time.ahead += ms;
      await log.sweep();
    },
  });
  const made = {
    port: portOf(),
    reopen: async () => {
      await log.close();
      log = await open();
      made.port = portOf();
      return made.port;
    },
    flush: () => Promise.resolve(),
    close: async () => {
      await Promise.all((await log.topics('')).map((topic) => log.deleteTopic(topic)));
      await log.close();
    },
  };
  return made;
};

describeStreamLog('kafka', harness);
