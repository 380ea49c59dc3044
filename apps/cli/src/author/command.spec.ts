import { describe, expect, it } from '@jest/globals';
import { type Told } from './command.js';
import { CommandFailure } from './failure.js';
import { ranHere } from './testing/ran-here.js';

const ran = (told: Told, json = false) => ranHere(() => Promise.resolve(told), [], { json });
const FAILURE = new CommandFailure({ exit: 5, code: 'busy', status: 409, message: 'b: busy', lines: ['at b'] });

// docs/reference/command-line.md#json
describe('what a command told', () => {
  it('is lines for people, with what is no result on standard error', async () => {
    const told = {
      data: 1,
      lines: ['one'],
      warnings: ['old', { message: 'older' }],
      hints: ['more: -n 2'],
      exit: 1 as const,
    };
    expect(await ran(told)).toEqual({ exit: 1, out: ['one'], err: ['warning: old', 'warning: older', 'more: -n 2'] });
    const placed = { ...told, warningLines: ['a.yaml:1:1: warning: old'] };
    expect((await ran(placed)).err).toEqual(['a.yaml:1:1: warning: old', 'more: -n 2']);
  });

  it('is one document, where JSON is asked for', async () => {
    const { exit, out, err } = await ran(
      { data: [1], pageInfo: { count: 1 }, lines: ['one'], warnings: ['old'] },
      true,
    );
    expect([exit, out.length, err]).toEqual([0, 1, []]);
    expect(JSON.parse(out[0] ?? '')).toEqual({ data: [1], page_info: { count: 1 }, warnings: ['old'] });
  });

  it('has what was done before a failure, which decides the exit', async () => {
    const told = { data: ['a'], lines: ['a: done'], failed: FAILURE };
    expect(await ran(told)).toEqual({
      exit: 5,
      out: ['a: done'],
      err: ['at b', 'sluice: b: busy. Nothing after it was done.'],
    });
    const { exit, out, err } = await ran(told, true);
    expect([exit, err]).toEqual([5, []]);
    const failed = { error: 'b: busy', code: 'busy', status: 409 };
    expect(JSON.parse(out[0] ?? '')).toEqual({ data: ['a'], failed });
  });

  it('is not printed again when it was printed as it came, but for what ended it', async () => {
    const told = { data: 1, lines: ['one'], streamed: true };
    for (const json of [false, true]) expect(await ran(told, json)).toEqual({ exit: 0, out: [], err: [] });
    const { exit, out, err } = await ran({ ...told, failed: FAILURE }, true);
    expect([exit, out, err.length]).toEqual([5, [], 1]);
    expect(JSON.parse(err[0] ?? '')).toMatchObject({ code: 'busy', status: 409, next: null });
  });

  it('is a failure alone where nothing was done', async () => {
    const failing = (json: boolean) => ranHere(() => Promise.reject(FAILURE), [], { json });
    expect(await failing(false)).toEqual({ exit: 5, out: [], err: ['at b', 'sluice: b: busy'] });
    expect(JSON.parse((await failing(true)).err[0] ?? '')).toMatchObject({ error: 'b: busy', code: 'busy' });
  });
});
