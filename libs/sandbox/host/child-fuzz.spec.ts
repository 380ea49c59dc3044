import { afterEach, describe, expect, it } from '@jest/globals';
import { LATE_RECORD_BYTES } from '../protocol/late-work.js';
import { MAX_CHILD_RECORD_BYTES, MB, RUN_LIMITS } from '../protocol/protocol.js';
import { encodeRecord } from '#libs/framing/records.js';
import { RunsMemory } from './runs-memory.js';
import { type RunOutcome, SandboxGone } from '../sandbox.js';
import { fuzzedBytes, plainRecord } from '../testing/fuzzed-records.js';
import { mulberry } from '../testing/random.js';
import { WrittenChild } from '../testing/written-child.js';
import { ProcessSandbox } from './process-sandbox.js';

const RECORDS = 10_000;
const BUDGET = 64 * MB;
/** Maximum memory of one process: the output of its runs, an error each, and an incomplete record. */
const MOST_OF_ONE = 8 * (RUN_LIMITS.payloadBytes + 5 * MB) + MAX_CHILD_RECORD_BYTES;

const spec = {
  sourceId: 'dc_1',
  workspaceId: 'o_1',
  bundleFile: '',
  props: {},
  db: {},
  concurrency: 8,
};

/** Started children, killed after each test so that their watchdogs end. */
const started: WrittenChild[] = [];
afterEach(() => started.splice(0).forEach((child) => child.kill()));

const start = (memory: RunsMemory): { child: WrittenChild; sandbox: ProcessSandbox } => {
  const child = new WrittenChild();
  const sandbox = new ProcessSandbox(spec, child, { memoryMb: 128 }, { now: () => 1_000 }, memory);
  child.bind(sandbox);
  started.push(child);
  return { child, sandbox };
};

const immediate = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const runEight = async (sandbox: ProcessSandbox): Promise<readonly Promise<RunOutcome | Error>[]> => {
  const outcomes = Array.from({ length: 8 }, (_, n) =>
    sandbox.run({ invocationId: `inv_${n}`, event: '{}', timeoutMs: 600_000 }).catch((error: unknown) => {
      if (error instanceof SandboxGone) return error;
      throw error;
    }),
  );
  await immediate();
  return outcomes;
};

describe(`${RECORDS} fuzzed records of hostile children`, () => {
  it('end only the children that sent them, stay within the memory limits, and leave another process unharmed', async () => {
    const memory = new RunsMemory({ bytes: BUDGET });
    const random = mulberry(20_26);
    const neighbour = start(memory);
    const others = await runEight(neighbour.sandbox);
    let neighbourIndex = 1;
    const told = { breaches: 0, children: 0, most: 0, kept: 0 };

    for (let sent = 0; sent < RECORDS;) {
      const { child, sandbox } = start(memory);
      let before = memory.stats().bytes;
      told.children++;
      const outcomes = await runEight(sandbox);
      // Well-formed records come first, so that the fuzzed ones meet started runs with output.
      let index = 1;
      for (let n = 1; n <= 8; n++) {
        child.say(plainRecord(index++, ['s', n, 1_000]));
        child.say(plainRecord(index++, ['e', n, '', null, null, null], '"said"'));
      }
      while (child.alive && sent < RECORDS) {
        const { bytes, counted } = fuzzedBytes(random, index);
        child.say(bytes);
        index += counted;
        sent++;
        told.most = Math.max(told.most, memory.stats().bytes - before);
        if (sent % 500 === 0 && neighbourIndex < 17) {
          const all = memory.stats().bytes;
          const n = Math.floor((neighbourIndex + 1) / 2);
          const message = neighbourIndex % 2 === 1 ? ['s', n, 1_000] : ['e', n, '', null, null, null];
          neighbour.child.say(plainRecord(neighbourIndex, message, neighbourIndex % 2 === 1 ? '' : '"whole"'));
          neighbourIndex++;
          before += memory.stats().bytes - all;
        }
      }
      if (child.alive) child.kill();
      told.breaches += child.breaches;
      for (const outcome of await Promise.all(outcomes)) {
        if (outcome instanceof Error) continue;
        told.kept += outcome.emits.filter(({ payload }) => payload === '"said"').length;
        for (const { payload, channel } of outcome.emits) {
          JSON.parse(payload);
          expect(channel.isWellFormed()).toBe(true);
        }
        outcome.held?.release();
      }
      expect(memory.stats().bytes).toBe(before);
    }

    expect(told.breaches).toBeGreaterThan(100);
    expect(told.breaches).toBeGreaterThanOrEqual(told.children - 1);
    // Output of a run before the end of its process is kept.
    expect(told.kept).toBeGreaterThanOrEqual(told.children * 8);
    expect(told.most).toBeLessThan(MOST_OF_ONE);
    for (; neighbourIndex < 17; neighbourIndex++) {
      const n = Math.floor((neighbourIndex + 1) / 2);
      const message = neighbourIndex % 2 === 1 ? ['s', n, 1_000] : ['e', n, '', null, null, null];
      neighbour.child.say(plainRecord(neighbourIndex, message, neighbourIndex % 2 === 1 ? '' : '"whole"'));
    }
    for (let n = 1; n <= 8; n++) neighbour.child.say(plainRecord(16 + n, ['d', n, 1_000, null]));
    const whole = await Promise.all(others);
    expect(whole.map((outcome) => !(outcome instanceof Error) && outcome.emits)).toEqual(
      Array(8).fill([{ payload: '"whole"', channel: '' }]),
    );
    neighbour.child.kill();
  }, 120_000);

  it('has a control: the same records harm a reader that trusts them', () => {
    const random = mulberry(20_26);
    let thrown = 0;
    const trusting = (bytes: Buffer): void => {
      const [tag, n, channel] = JSON.parse(bytes.subarray(12, 12 + bytes.readUInt32LE(4)).toString()) as string[];
      if (tag === undefined || n === undefined || channel?.startsWith('$') === true) throw new Error('harm');
    };
    for (let sent = 0; sent < 200; sent++) {
      try {
        trusting(fuzzedBytes(random, 1).bytes);
      } catch {
        thrown++;
      }
    }
    expect(thrown).toBeGreaterThan(20);
  });
});

describe('one run at its limits', () => {
  it('stays within its limits whatever it sends, and the next byte ends its process', async () => {
    const memory = new RunsMemory({ bytes: BUDGET });
    const { child, sandbox } = start(memory);
    const outcomes = await runEight(sandbox);
    child.say(plainRecord(1, ['s', 1, 1_000]));
    const mega = JSON.stringify('x'.repeat(MB - 2));
    for (let n = 0; n < 6; n++) child.say(encodeRecord(2 + n, ['e', 1, '', null, null, null], [mega]));
    expect([child.alive, memory.stats().bytes]).toEqual([true, expect.any(Number)]);
    expect(memory.stats().bytes).toBeLessThan(6 * MB + 10_000);
    child.say(encodeRecord(8, ['e', 1, '', 'i'.repeat(2_000), null, null], ['1']));
    expect([child.alive, child.breaches]).toEqual([false, 1]);
    const [first] = await Promise.all(outcomes);
    expect(first).toMatchObject({ status: 'killed', error: { code: 'ProcessExited' } });
    if (first && !(first instanceof Error)) first.held?.release();
    expect(memory.stats().bytes).toBe(0);
  });

  it('counts an incomplete record, and accepts none from a process without a run', async () => {
    const memory = new RunsMemory({ bytes: BUDGET });
    const { child, sandbox } = start(memory);
    // As long as a report on late work.
    const unfinished = encodeRecord(1, ['g']);
    unfinished.writeUInt32LE(6 * MB, 8);
    child.say(Buffer.concat([unfinished, Buffer.alloc(1_000)]));
    expect([child.alive, child.breaches]).toEqual([true, 0]);
    child.say(Buffer.alloc(LATE_RECORD_BYTES));
    expect([child.alive, child.breaches]).toEqual([false, 1]);
    const second = start(memory);
    const outcomes = await runEight(second.sandbox);
    const head = encodeRecord(1, ['s', 1, 1_000]);
    head.writeUInt32LE(6 * MB, 8);
    second.child.say(Buffer.concat([head, Buffer.alloc(5 * MB)]));
    expect(memory.stats().bytes).toBeGreaterThan(5 * MB);
    second.child.kill();
    await Promise.all(outcomes);
    expect(memory.stats().bytes).toBeLessThan(1_000);
    expect(sandbox.alive()).toBe(false);
  });
});
