import { describe, expect, it } from '@jest/globals';
import { RUN_BYTES, runsOf, runsRecord, type SourceRun } from './source-runs.js';

const emitter = { topic: 'emits.dc_1', sourceId: 'dc_1', workspaceId: 'o_1' };
const run = (over: Partial<SourceRun> = {}): SourceRun => ({
  id: 'inv_0123456789abcdefgh',
  kind: 'apphook',
  status: 'killed',
  queuedAt: 1_764_000_000_000,
  startedAt: 1_764_000_000_000,
  ms: 123_456,
  emits: 10_000,
  delayed: 1_000,
  logs: 10_000,
  httpStatus: 200,
  attempts: 3,
  firstEvent: '1764000000000-9999',
  error: null,
  ...over,
});

describe('the record of the runs of a commit', () => {
  it('has every field of every run, in order', () => {
    const runs = [run(), run({ id: 'inv_2', httpStatus: null, error: { name: 'Error', message: 'no' } })];
    const record = runsRecord(emitter, runs);
    expect(record).toMatchObject({ topic: 'emits.dc_1', key: 'dc_1', headers: { kind: 'runs', emitter: 'dc_1' } });
    expect(runsOf(record)).toEqual(runs);
  });

  it('is read from its end when only the newest are wanted', () => {
    const record = runsRecord(emitter, [run({ id: 'inv_1' }), run({ id: 'inv_2' }), run({ id: 'inv_3' })]);
    expect(runsOf(record, 2).map(({ id }) => id)).toEqual(['inv_2', 'inv_3']);
    expect(runsOf(record, 5)).toHaveLength(3);
  });

  it.each(['x', '\u0000', 'ü', '€', '😀', '"'])('keeps a run with a long error of %j within its bytes', (character) => {
    const long = character.repeat(50_000);
    const { value } = runsRecord(emitter, [run({ error: { name: long, message: long } })]);
    expect(Buffer.byteLength(value)).toBeLessThanOrEqual(RUN_BYTES);
    const [read] = runsOf({ value });
    expect(read?.error?.message).toMatch(/^.{20,}…$/u);
    expect(read?.error?.message.isWellFormed()).toBe(true);
  });
});
