import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type JailLevel } from '#libs/sandbox/jail/jail-level.js';
import { ComponentSandboxes } from '#libs/sandbox/testing/component-sandboxes.js';
import { type SampleBook } from './component-samples.js';
import { EchoFloor } from './echo-floor.js';
import { RELAY_COMPONENT } from './targets.js';

/** Runs that wait at once when they are batched: four frames of the protocol. */
const IN_FLIGHT = 256;
const WARM_UP_MS = 1_000;
const EVENT = JSON.stringify({ method: 'POST', path: '/', body: { n: 1, pad: 'x'.repeat(960) } });

type Run = () => Promise<unknown>;

/** Runs a second, `width` at a time. */
const rate = async (run: Run, width: number, ms: number): Promise<number> => {
  const startedAt = performance.now();
  const until = startedAt + ms;
  let count = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() < until) {
      await run();
      count++;
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return (count / (performance.now() - startedAt)) * 1_000;
};

/** Measures one sandbox and the floor in turns, one run at a time and batched. */
export const measureWarmRuns = async (
  book: SampleBook,
  level: JailLevel,
  rounds: number,
  ms: number,
): Promise<void> => {
  const sandboxes = await ComponentSandboxes.open(level);
  const floor = new EchoFloor();
  try {
    const bundle = join(sandboxes.dir, 'relay.cjs');
    await writeFile(bundle, RELAY_COMPONENT.replace('export default', 'module.exports ='));
    const sandbox = await sandboxes.startFile(bundle);
    let count = 0;
    const inSandbox: Run = async () => {
      const outcome = await sandbox.run({ invocationId: `inv_${++count}`, event: EVENT, timeoutMs: 30_000 });
      outcome.held?.release();
      if (outcome.status !== 'ok') throw new Error(`a run ended as ${outcome.status}: ${outcome.error?.message}`);
      if (outcome.emits.length !== 1) throw new Error(`a run emitted ${outcome.emits.length} events instead of 1`);
    };
    const targets: readonly (readonly [name: string, run: Run])[] = [
      ['sandbox', inSandbox],
      ['floor', () => floor.run(EVENT)],
    ];
    for (const [, run] of targets) await rate(run, IN_FLIGHT, WARM_UP_MS);
    for (let round = 0; round < rounds; round++) {
      const order = round % 2 === 0 ? targets : [...targets].reverse();
      for (const [way, width] of [
        ['one at a time', 1],
        [`${IN_FLIGHT} in flight`, IN_FLIGHT],
      ] as const) {
        const found = new Map<string, number>();
        for (const [name, run] of order) found.set(name, await rate(run, width, ms));
        for (const [name, value] of found) book.add('warm', `${name}, ${way}`, 'runs/s', value);
        const ratio = (found.get('sandbox') ?? NaN) / (found.get('floor') ?? NaN);
        book.add('warm', `sandbox ÷ floor, ${way}`, 'ratio', ratio);
      }
    }
  } finally {
    await floor.stop();
    await sandboxes.close();
  }
};
