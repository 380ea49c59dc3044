import { describe, expect, it } from '@jest/globals';
import { RUN_LIMITS } from '../protocol/protocol.js';
import { ProtocolBreach } from '#libs/framing/records.js';
import { RunCollector } from './run-collector.js';
import { NOTE_BYTES } from '../protocol/run-size.js';
import { type HttpReply } from '#libs/component-model/run-output.js';

const collector = (onImmediateResponse?: (reply: HttpReply) => void) =>
  new RunCollector({
    n: 1,
    invocationId: 'inv',
    timeoutMs: 1,
    sentAt: 1,
    work: 'run',
    eventBytes: 0,
    resolve: () => undefined,
    reject: () => undefined,
    onImmediateResponse,
  });
const held = { bytes: 0, release: () => undefined };
const emit = ['e', 1, '', null, null, null] as const;
const line = ['l', 1, 'console.log', 5] as const;

describe('the output of a run', () => {
  it('becomes its outcome', () => {
    const run = collector();
    run.startedAt = 10;
    run.say(['e', 1, 'chan', 7, 'sum', 9], Buffer.from('{"ä":1}'));
    run.say(emit, Buffer.from('null'));
    run.say(line, Buffer.from('said'));
    run.say(['b', 1, 'key', 0], Buffer.from('1'));
    run.say(['b', 1, 'key', 1], Buffer.from(''));
    run.say(['b', 1, '__proto__', 0], Buffer.from('{}'));
    run.say(['r', 1, 201, { a: 'b' }, 0, 0], Buffer.from('body'));
    expect(run.outcome('ok', 20, held)).toEqual({
      status: 'ok',
      held,
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

  it('passes an immediate reply on at once', () => {
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
    expect(() => run.say(['r', 1, 200, {}, 0, 0], Buffer.alloc(NOTE_BYTES + 1))).toThrow('bytes of payload');
  });

  it.each([
    ['ids', (i: number) => ['e', 1, '', `${i} ${'ü'.repeat(4_000)}`, null, null] as const, '1'],
    ['summaries', () => ['e', 1, '', null, 'x'.repeat(16_000), null] as const, '1'],
    ['channel names', () => ['e', 1, '\u{1F600}'.repeat(500), null, null, null] as const, '1'],
  ])('counts %s in UTF-8 bytes towards the same 6 MB', (_what, message, payload) => {
    const run = collector();
    let said = 0;
    const flood = () => {
      for (; said < RUN_LIMITS.emits; said++) run.say(message(said), Buffer.from(payload));
    };
    expect(flood).toThrow('bytes of payload');
    expect(run.heldBytes).toBeLessThan(RUN_LIMITS.payloadBytes + 32_000 + said * 256);
    // Control: the same number of emits without them is allowed.
    const plain = collector();
    for (let i = 0; i < said; i++) plain.say(emit, Buffer.from(payload));
    expect(plain.emits).toHaveLength(said);
  });

  it('counts log lines and the headers of a reply towards them too', () => {
    const payload = Buffer.from(JSON.stringify('x'.repeat(RUN_LIMITS.payloadBytes - 2)));
    const lines = collector();
    lines.say(emit, payload);
    expect(() => lines.say(line, Buffer.alloc(NOTE_BYTES, 97))).toThrow('bytes of payload');
    const reply = collector();
    reply.say(emit, payload);
    expect(() => reply.say(['r', 1, 200, { a: 'b'.repeat(NOTE_BYTES) }, 0, 0], Buffer.from(''))).toThrow(
      'bytes of payload',
    );
  });

  it('breaks the protocol with one channel too many, the default channel not counted', () => {
    const run = collector();
    run.say(emit, Buffer.from('1'));
    for (let i = 0; i < 2 * RUN_LIMITS.channels; i++)
      run.say(['e', 1, `c${i % RUN_LIMITS.channels}`, null, null, null], Buffer.from('1'));
    expect(() => run.say(['e', 1, 'one more', null, null, null], Buffer.from('1'))).toThrow('channels in one run');
  });

  it('breaks the protocol with invalid UTF-8, which would grow threefold when decoded', () => {
    const broken = Buffer.from([34, 0xff, 0xff, 34]);
    for (const message of [emit, line, ['b', 1, 'k', 0], ['r', 1, 200, {}, 0, 0]] as const)
      expect(() => collector().say(message, broken)).toThrow('no UTF-8');
  });

  it('breaks the protocol with records that are large only on the wire', () => {
    const run = collector();
    const flood = () => {
      for (let i = 0; i < 1_000; i++) run.countRecord(100_000);
    };
    expect(flood).toThrow('records of more than');
    run.exits();
    expect(() => run.exits()).toThrow('a second exit');
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

  it('holds bounded db changes, however often keys are written', () => {
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
