import { describe, expect, it } from '@jest/globals';
import { ProtocolBreach, RUN_LIMITS } from './protocol.js';
import { RunCollector } from './run-collector.js';
import { type HttpReply } from './sandbox.js';

const collector = (onImmediateResponse?: (reply: HttpReply) => void) =>
  new RunCollector({
    n: 1,
    invocationId: 'inv',
    timeoutMs: 1,
    sentAt: 1,
    beside: false,
    bytes: 0,
    resolve: () => undefined,
    reject: () => undefined,
    onImmediateResponse,
  });
const emit = ['e', 1, '', null, null, null] as const;
const line = ['l', 1, 'console.log', 5] as const;

describe('what a run says', () => {
  it('comes back as its outcome', () => {
    const run = collector();
    run.startedAt = 10;
    run.say(['e', 1, 'chan', 7, 'sum', 9], Buffer.from('{"ä":1}'));
    run.say(emit, Buffer.from('null'));
    run.say(line, Buffer.from('said'));
    run.say(['b', 1, 'key', 0], Buffer.from('1'));
    run.say(['b', 1, 'key', 1], Buffer.from(''));
    run.say(['b', 1, '__proto__', 0], Buffer.from('{}'));
    run.say(['r', 1, 201, { a: 'b' }, 0, 0], Buffer.from('body'));
    expect(run.outcome('ok', 20)).toEqual({
      status: 'ok',
      emits: [
        { payload: '{"ä":1}', channel: 'chan', id: 7, summary: 'sum', ts: 9 },
        { payload: 'null', channel: '' },
      ],
      logs: [{ k: 'console.log', ts: 5, msg: 'said' }],
      dbChanges: Object.fromEntries([
        ['key', null],
        ['__proto__', '{}'],
      ]) as Record<string, string | null>,
      response: { status: 201, headers: { a: 'b' }, body: 'body', base64: false },
      startedAt: 10,
      endedAt: 20,
    });
  });

  it('hands an immediate reply over at once', () => {
    const replies: HttpReply[] = [];
    collector((reply) => replies.push(reply)).say(['r', 1, 200, {}, 1, 1], Buffer.from('AA=='));
    expect(replies).toEqual([{ status: 200, headers: {}, body: 'AA==', base64: true }]);
  });

  it('breaks the protocol with one emit too many', () => {
    const run = collector();
    for (let i = 0; i < RUN_LIMITS.emits; i++) run.say(emit, Buffer.from('1'));
    expect(() => run.say(emit, Buffer.from('1'))).toThrow(ProtocolBreach);
  });

  it('breaks the protocol with more than 6 MB in all', () => {
    const run = collector();
    const payload = Buffer.from(JSON.stringify('x'.repeat(1024 * 1024 - 2)));
    for (let i = 0; i < 6; i++) run.say(emit, payload);
    expect(() => run.say(['r', 1, 200, {}, 0, 0], Buffer.from('x'))).toThrow('bytes of payload');
  });

  it('breaks the protocol with too many lines, or bytes of them', () => {
    const lines = collector();
    for (let i = 0; i <= RUN_LIMITS.logLines; i++) lines.say(line, Buffer.from(''));
    expect(() => lines.say(line, Buffer.from(''))).toThrow('log lines');
    expect(() => collector().say(line, Buffer.alloc(RUN_LIMITS.logBytes + 2_000))).toThrow('bytes of them');
  });

  it.each([
    ['an emit that is no JSON', emit, '{'],
    ['an emit that nests too deep', emit, '['.repeat(300) + ']'.repeat(300)],
    ['a db value that is no JSON', ['b', 1, 'k', 0], 'x'],
    ['a db value that is too large', ['b', 1, 'k', 0], JSON.stringify('x'.repeat(RUN_LIMITS.dbValueBytes))],
  ] as const)('breaks the protocol with %s', (_what, message, raw) => {
    expect(() => collector().say(message, Buffer.from(raw))).toThrow(ProtocolBreach);
  });

  it('holds no more of the db than a store may be large, however often keys are written', () => {
    const run = collector();
    const value = Buffer.from(JSON.stringify('x'.repeat(50_000)));
    for (let i = 0; i < 500; i++) run.say(['b', 1, 'same', 0], value);
    const fill = () => {
      for (let i = 0; i < 500; i++) run.say(['b', 1, `key ${i}`, 0], value);
    };
    expect(fill).toThrow('db changes of more than');
  });

  it('breaks the protocol with a second reply', () => {
    const run = collector();
    run.say(['r', 1, 200, {}, 0, 0], Buffer.from(''));
    expect(() => run.say(['r', 1, 200, {}, 0, 0], Buffer.from(''))).toThrow('second reply');
  });
});
