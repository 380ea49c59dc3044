import { describe, expect, it } from '@jest/globals';
import { type HookName } from '#libs/component-model/hooks.js';
import { type RunOutcome } from '#libs/sandbox/index.js';
import { type Finished } from './run-commit.js';
import { executionOf } from './run-result.js';
import { RunLog } from './run-log.js';
import { ok } from './testing/fake-sandbox.js';
import { definition, invocationHeaders } from './testing/source-world.js';

const settings = { httpTimeoutMs: 30_000, timerTimeoutMs: 60_000, hookTimeoutMs: 10_000 };
const error = { name: 'TypeError', message: 'secret text', stack: 'at x', code: 'E_NO' };

const world = (debug: boolean) => {
  const lines: [string, string, object][] = [];
  const say =
    (level: string) =>
    (fields: object, message: string): void =>
      void lines.push([level, message, fields]);
  const logger = { isLevelEnabled: () => debug, debug: say('debug'), warn: say('warn') };
  return { lines, log: new RunLog({ sourceId: 'dc_1', logger, settings }) };
};

const finished = (outcome: RunOutcome | undefined, kind?: 'http' | 'timer', hook?: HookName): Finished =>
  ({
    execution: { ...executionOf('dc_1', 'inv_1', definition(), 'o_1'), ...(hook ? { hook } : {}) },
    outcome,
    invocation: kind ? { headers: invocationHeaders('inv_1', { kind }) } : undefined,
    committed: () => undefined,
  }) as Finished;

describe('the line of a run', () => {
  it('is wide, at debug when the run went well, and at warn when it failed, was killed or was slow', () => {
    const { lines, log } = world(true);
    log.committed(finished(ok({ emits: [{ payload: '1', channel: '' }] }), 'http'), undefined);
    log.committed(finished(ok({ status: 'threw', error }), 'timer'), undefined);
    log.committed(finished(ok({ startedAt: 0, endedAt: 15_000 }), 'http'), undefined);
    log.committed(finished(ok({ startedAt: 0, endedAt: 15_000 }), 'timer'), undefined);
    log.committed(finished(ok({ startedAt: 0, endedAt: 5_000 }), undefined, 'activate'), undefined);
    log.committed(finished(ok(), 'http'), { ...error, name: 'DbLimitExceeded' });
    const failed = { code: 'E_NO', message: error.message };
    const of = { source: 'dc_1', workspace: 'o_1', invocation: 'inv_1' };
    const well = { ...of, kind: 'http', status: 'ok', ms: 1, limitMs: 30_000, emits: 1 };
    expect(lines).toEqual([
      ['debug', 'source.run', well],
      [
        'warn',
        'source.run',
        { ...of, kind: 'timer', status: 'threw', ms: 1, limitMs: 60_000, emits: 0, ...failed, error: 'TypeError' },
      ],
      ['warn', 'source.run', { ...well, ms: 15_000, slow: true, emits: 0 }],
      ['debug', 'source.run', { ...well, kind: 'timer', limitMs: 60_000, ms: 15_000, emits: 0 }],
      [
        'warn',
        'source.hook',
        { ...of, kind: 'hook', hook: 'activate', status: 'ok', ms: 5_000, limitMs: 10_000, slow: true, emits: 0 },
      ],
      ['warn', 'source.run', { ...well, status: 'threw', emits: 0, ...failed, error: 'DbLimitExceeded' }],
    ]);
  });

  it('has the first 500 characters of a message', () => {
    const { lines, log } = world(true);
    log.committed(
      finished(ok({ status: 'threw', error: { ...error, message: 'm'.repeat(10_000) } }), 'http'),
      undefined,
    );
    expect(lines[0]?.[2]).toMatchObject({ message: `${'m'.repeat(500)}…` });
  });

  it('is neither built nor written for a run that went well while debug is off, nor for what is no run', () => {
    const { lines, log } = world(false);
    const unread = new Proxy(ok(), {
      get(target, key) {
        if (key === 'emits') throw new Error('the line was built');
        return Reflect.get(target, key) as unknown;
      },
    });
    log.committed(finished(unread, 'http'), undefined);
    log.committed(finished(ok({ status: 'threw', error })), undefined);
    log.committed(finished(undefined, 'http'), undefined);
    expect(lines).toEqual([]);
  });

  it('is left out beyond 60 failures a minute, and counted in the next line, unless debug is on', () => {
    const failed = (at: number) => finished(ok({ status: 'threw', error, startedAt: at, endedAt: at }), 'http');
    const { lines, log } = world(false);
    for (let i = 0; i < 1_000; i++) log.committed(failed(100_000 + i), undefined);
    expect(lines).toHaveLength(60);
    log.committed(failed(160_000), undefined);
    log.committed(failed(160_001), undefined);
    expect(lines.slice(59).map(([, , fields]) => 'unwritten' in fields && fields.unwritten)).toEqual([
      false,
      940,
      false,
    ]);
    const all = world(true);
    for (let i = 0; i < 1_000; i++) all.log.committed(failed(100_000 + i), undefined);
    expect(all.lines).toHaveLength(1_000);
  });
});
