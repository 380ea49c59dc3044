import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { relayCode } from '#test/harness/component-code.js';
import { Deployment, givenEngines } from '#test/harness/deployment.js';
import { Instance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';
import { startKafkaBroker, type KafkaBroker } from './kafka-broker.js';

/** Log lines of the roles when a separate broker dies under load and returns. */
const PATIENCE_MS = 400_000;
const AWAY_MS = 25_000;
/**
 * Most lines of one process with level warn or error. A fault that several parts of a process meet, each with its own
 * cause, makes a few lines; a line for each attempt would make hundreds.
 */
const MOST_LINES = 12;

let kafka: KafkaBroker;
let instance: Instance<Deployment>;

beforeAll(async () => {
  kafka = await startKafkaBroker();
  instance = new Instance(new Deployment({ engines: { ...givenEngines(), kafka: kafka.brokers } }));
  await instance.start();
}, PATIENCE_MS);
afterAll(async () => {
  await instance?.close();
  await kafka?.stop();
}, PATIENCE_MS);

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly error?: string;
}

const complaintsOf = (output: string): readonly Line[] =>
  output.split('\n').flatMap((line): Line[] => {
    if (!line.startsWith('{')) return line.trim() === '' ? [] : [{ level: 'raw', msg: line }];
    const told = JSON.parse(line) as Line;
    return ['warn', 'error', 'fatal'].includes(told.level) ? [told] : [];
  });

// docs/how-to/scale-out.md#faults-in-the-log
describe('a broker that dies under load', () => {
  it(
    'is told of in a few lines by each process, with its cause, and so is its return',
    async () => {
      const source = await instance.deploy(relayCode());
      const webhook = await instance.listen(source.id);
      let isOver = false;
      let n = 0;
      const load = Array.from({ length: 4 }, async () => {
        while (!isOver) {
          await instance.post(source, { n: n++ }).catch(() => undefined);
          await pause(50);
        }
      });
      await eventually('some events', () => (instance.arrived(webhook).length > 20 ? true : undefined), 60_000);
      const before = instance.server.all.map(({ lastOutput }) => lastOutput.length);
      await kafka.kill9();
      await pause(AWAY_MS);
      await kafka.start();
      const arrived = instance.arrived(webhook).length;
      await eventually(
        'more events',
        () => (instance.arrived(webhook).length > arrived + 20 ? true : undefined),
        60_000,
      );
      // The end of a fault is reported when it was not met for a while.
      await pause(20_000);
      isOver = true;
      await Promise.all(load);
      const told = instance.server.all.map((server, i) => ({
        pid: server.pid,
        lines: complaintsOf(server.lastOutput.slice(before[i])),
      }));
      const shown = JSON.stringify(
        told.map(({ lines }) => lines.map(({ msg, error }) => `${msg} | ${error ?? ''}`)),
        null,
        1,
      );
      for (const { lines } of told) {
        if (lines.length > MOST_LINES)
          throw new Error(`${lines.length} lines of one process:\n${shown.slice(0, 20_000)}`);
      }
      expect(shown).not.toMatch(/may want|MaxListeners/);
      expect(shown).toMatch(/a broker cannot be reached/);
      expect(shown).toMatch(/over: a broker cannot be reached/);
    },
    PATIENCE_MS,
  );
});
