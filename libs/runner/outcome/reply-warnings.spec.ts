import { describe, expect, it } from '@jest/globals';
import { type InvocationHeaders } from '#libs/stream-log/envelopes.js';
import { warnedOfHookReply, warnedOfReply } from './reply-warnings.js';
import { ok } from '../source/testing/fake-sandbox.js';
import { invocationHeaders } from '../source/testing/source-world.js';

const response = { status: 200, headers: {}, body: '', base64: false };
const words = (over: Partial<InvocationHeaders>, outcome: Parameters<typeof ok>[0]): readonly unknown[] =>
  warnedOfReply(ok(outcome), invocationHeaders('inv_1', over)).logs;

describe('a line on the reply of a run', () => {
  it('warns of one that never came, that came too late, and that no caller awaits', () => {
    const own = { k: 'console.log', ts: 1, msg: 'own' };
    expect(words({ respond: 'here' }, { logs: [own] })).toEqual([
      own,
      {
        k: 'warning',
        ts: 2,
        msg: 'the prop has customResponse: true and the run ended without respond, so the caller got 200 without a body. Call this.<prop>.respond({ status, headers, body }) in run, or leave customResponse out',
      },
    ]);
    expect(words({}, { response })).toEqual([
      {
        k: 'warning',
        ts: 2,
        msg: 'respond was called, but the prop lacks customResponse: true, so the caller had got 200 {"success":true} before the run. Declare { type: "$.interface.http", customResponse: true }',
      },
    ]);
    const nobody = 'where no caller waits, so its reply is dropped. Call it only for events of the endpoint';
    expect(words({ kind: 'timer' }, { response })).toMatchObject([
      { k: 'warning', msg: `respond was called in a run of kind "timer", ${nobody}` },
    ]);
    expect(warnedOfHookReply(ok({ response }), 'activate').logs).toMatchObject([
      { k: 'warning', msg: `respond was called in the hook activate, ${nobody}` },
    ]);
  });

  // docs/reference/component-model.md#endpoint-confined
  it('names what is left out of the reply below the origin of the API, in one bounded line', () => {
    const headers = { 'Clear-Site-Data': '"*"', 'set-cookie': ['a=1; Path=/', '__Host-b=1'] };
    const confined = { respond: 'here', confined: '1' } as const;
    expect(words(confined, { response: { ...response, headers } })).toMatchObject([
      {
        k: 'warning',
        msg: expect.stringMatching(
          /^respond: left out of the reply: header Clear-Site-Data, cookie "__Host-b" \(.*\)\. It/,
        ),
      },
    ]);
    expect(words({ respond: 'here' }, { response: { ...response, headers } })).toEqual([]);
    const many = { 'set-cookie': Array.from({ length: 200 }, (_, i) => `__Host-${'x'.repeat(300)}${i}=1`) };
    const [line] = words(confined, { response: { ...response, headers: many } }) as { msg: string }[];
    expect(line?.msg).toContain('190 more');
    expect(line?.msg.length).toBeLessThan(3_000);
  });

  it('is absent when the caller got the reply or the error, or none was due', () => {
    const error = { name: 'E', message: '', stack: '', code: 'E' };
    expect(words({ respond: 'here' }, { response })).toEqual([]);
    expect(words({ respond: 'here' }, { status: 'threw', error })).toEqual([]);
    expect(words({}, {})).toEqual([]);
    expect(words({ kind: 'manual', respond: 'here' }, {})).toEqual([]);
    expect(warnedOfHookReply(ok(), 'deploy').logs).toEqual([]);
  });
});
