import { describe, expect, it } from '@jest/globals';
import { DELAYED_LIMITS } from '#libs/component-model/delayed-limits.js';
import { type ChildMessage } from '../protocol/protocol.js';
import { type EmitMetadata, Execution } from './execution.js';
import { LateWork } from './late-work.js';
import { type RespondInput } from './reply.js';
import { SourceDb } from './source-db.js';
import { Waiting } from './waiting.js';

const world = () => {
  const sent: [ChildMessage, string][] = [];
  const nothing = (): void => undefined;
  const send = (message: ChildMessage, raw = ''): void => void sent.push([message, raw]);
  const uplink = { send, spill: nothing, flush: nothing, flushIfOlderThan: nothing };
  const late = new LateWork(uplink);
  const waiting = new Waiting();
  const execution = (n = 1): Execution => new Execution(n, uplink, new SourceDb({}), waiting, late, nothing);
  const said = (tag: string, field: number, value: string): readonly string[] =>
    sent.filter(([message]) => message[0] === tag && message[field] === value).map(([, raw]) => raw);
  const warnings = (): readonly string[] => said('l', 2, 'warning');
  const reports = (): readonly (readonly unknown[])[] =>
    sent.filter(([[tag]]) => tag === 'p').map(([message, raw]) => [message[1], message[2], raw]);
  const tags = (): readonly string[] => sent.map(([[tag]]) => tag);
  const messages = (tag: string): readonly ChildMessage[] =>
    sent.map(([message]) => message).filter(([t]) => t === tag);
  return { execution, messages, warnings, reports, tags, waiting };
};

const METADATA: readonly (readonly [unknown, string])[] = [
  [
    'orders',
    '$emit: the second argument is "orders" and is ignored: it must be an object of id, name, summary, ts and delivery_ts. To emit on that channel, pass { name: "orders" }',
  ],
  [7, '$emit: the second argument is 7 and is ignored: it must be an object of id, name, summary, ts and delivery_ts'],
  [{ sumary: 'x' }, '$emit: the second argument has the field "sumary", which is ignored. Write "summary" instead'],
  [{ ID: 'x' }, '$emit: the second argument has the field "ID", which is ignored. Write "id" instead'],
  [{ channel: 'x' }, '$emit: the second argument has the field "channel", which is ignored. Write "name" instead'],
  [
    { colour: 1 },
    '$emit: the second argument has the field "colour", which is ignored. Known fields are id, name, summary, ts, delivery_ts',
  ],
];

const REPLIES: readonly (readonly [unknown, string])[] = [
  [{ statusCode: 201 }, 'respond: the argument has the field "statusCode", which is ignored. Write "status" instead'],
  [{ code: 201 }, 'respond: the argument has the field "code", which is ignored. Write "status" instead'],
  [{ data: {} }, 'respond: the argument has the field "data", which is ignored. Write "body" instead'],
  [{ headrs: {} }, 'respond: the argument has the field "headrs", which is ignored. Write "headers" instead'],
  ['done', 'respond: the argument is "done" and is ignored: pass an object, { status: 200, body: … }'],
  [{ body: new Map() }, 'respond: the body is a Map and becomes {}: pass Object.fromEntries(map)'],
];

describe('a warning', () => {
  it.each(METADATA)('about the metadata %j', async (metadata, text) => {
    const { execution, warnings, tags } = world();
    await execution().emit(1, metadata as EmitMetadata);
    expect(warnings()).toEqual([text]);
    expect(tags()).toContain('e');
  });

  it.each(REPLIES)('about the reply %j', async (reply, text) => {
    const { execution, warnings, tags } = world();
    await execution().respond(reply as RespondInput);
    expect(warnings()).toEqual([text]);
    expect(tags()).toContain('r');
  });

  it('tells of an undefined event, a second reply, and a loss in the db', async () => {
    const { execution, warnings } = world();
    const run = execution();
    await run.emit();
    await run.respond({ status: 200 });
    await run.respond({ status: 201 });
    run.dbSet('seen', new Set([1]));
    expect(warnings()).toEqual([
      '$emit: the event is undefined, so null is emitted. Pass the value to emit, and await it if a promise brings it',
      'respond was called again in this run: the first reply counts, and this one is ignored',
      'db.set: the value of key "seen" is a Set and becomes {}: pass [...set]',
    ]);
  });

  it('comes once a run and kind, and leaves what is right without one', async () => {
    const { execution, warnings } = world();
    for (const run of [execution(1), execution(2)])
      for (let i = 0; i < 50; i++) {
        await run.emit();
        await run.emit({ a: new Map() });
        await run.emit(1, { idd: i } as EmitMetadata);
      }
    expect(warnings()).toHaveLength(6);
    const { execution: right, warnings: none } = world();
    await right().emit({ a: 1 }, { id: 1, name: 'n', summary: 's', ts: 1 });
    await right().emit(null, null as unknown as EmitMetadata);
    await right().respond({ status: 200, headers: {}, body: { a: null }, immediate: false });
    right().dbSet('gone', undefined);
    expect(none()).toEqual([]);
  });
});

describe('keys of $.service.db', () => {
  // docs/reference/component-model.md#db-calls
  it.each([
    ['a\0', /may not hold the character NUL: "a\\u0000"/],
    ['a\ud800', /may not hold half of a surrogate pair: "a\\ud800"/],
  ])('are refused where storage would change them: %j', (key, text) => {
    const { execution } = world();
    const run = execution();
    expect(() => run.dbSet(key, 1)).toThrow(text);
    expect([run.dbGet(key), run.dbGet('a\ufffd')]).toEqual([undefined, undefined]);
  });
});

/** docs/reference/component-model.md#emit-ts-unread */
const UNREAD_TIMES: readonly (readonly [string, unknown, string])[] = [
  ['Date.parse(undefined)', Date.parse(undefined as unknown as string), 'NaN'],
  ['an invalid Date', new Date('noon'), 'Invalid Date'],
  ['an empty text', '', '""'],
  ['a blank text', ' \n', '" \\n"'],
  ['the text of a date', '2030-01-01T00:00:00Z', '"2030-01-01T00:00:00Z"'],
  ['an object', { seconds: 1 }, '{"seconds":1}'],
  ['an empty list', [], '[]'],
  ['a list of a number', [1], '[1]'],
  ['a boolean', true, 'true'],
  ['beyond the range of Date', 8.64e15 + 1, '8640000000000001'],
  ['Infinity', Infinity, 'Infinity'],
  ['a function', () => 1, 'function'],
  ['a symbol', Symbol('s'), 'symbol'],
  ['an object without a prototype', Object.create(null), '{}'],
  [
    'an object whose conversion throws',
    {
      valueOf: () => {
        throw new Error('no');
      },
    },
    '{}',
  ],
];

describe('an emit with a ts that is no time', () => {
  it.each(UNREAD_TIMES)('goes out without it: %s', async (_, ts, shown) => {
    const { execution, messages, warnings } = world();
    const run = execution();
    await run.emit('first', { ts, id: 1 });
    await run.emit('second', { ts: 7 });
    expect(messages('e')).toEqual([
      ['e', 1, '', 1, null, null],
      ['e', 1, '', null, null, 7],
    ]);
    expect(warnings()).toEqual([
      expect.stringContaining(`$emit: ts is ${shown}, which is no time in epoch milliseconds`),
    ]);
  });

  it.each<[unknown, number]>([
    [0, 0],
    ['12', 12],
    [' 12 ', 12],
    [5n, 5],
    [new Date(9), 9],
    [{ valueOf: () => 3 }, 3],
  ])('keeps one that is: %p', async (ts, ms) => {
    const { execution, messages, warnings } = world();
    await execution().emit(1, { ts });
    expect(messages('e')).toEqual([['e', 1, '', null, null, ms]]);
    expect(warnings()).toEqual([]);
  });

  it.each(UNREAD_TIMES.filter(([, value]) => typeof value !== 'function' && typeof value !== 'symbol'))(
    'is refused as delivery_ts: %s',
    (_, value) => {
      expect(() => world().execution().emit(1, { delivery_ts: value })).toThrow(
        '$emit: delivery_ts must be epoch milliseconds',
      );
    },
  );
});

describe('a reply with headers of the connection', () => {
  it('is sent without them, and $logs names them once', async () => {
    const { execution, messages, warnings } = world();
    await execution().respond({ headers: { 'Content-Length': 5, connection: 'close', 'X-A': '1' } });
    expect(messages('r')).toEqual([['r', 1, 200, { 'X-A': '1' }, 0, 0]]);
    expect(warnings()).toEqual([
      'respond: the headers Content-Length, connection are left out: the server sets what belongs to the connection. Leave them out of headers',
    ]);
    expect(() => execution().respond({ headers: { 'a b': '1' } })).toThrow('cannot be a header name');
  });
});

describe('an emit with delivery_ts', () => {
  const emit = (run: Execution, event: unknown, inMs = 60_000): unknown => {
    try {
      return void run.emit(event, { delivery_ts: Date.now() + inMs });
    } catch (error) {
      return error;
    }
  };

  it('throws once so many wait as the host told, and those emitted since', () => {
    const { execution, tags, waiting } = world();
    const run = execution();
    waiting.told({ count: DELAYED_LIMITS.events - 2, bytes: 5 });
    expect([emit(run, 1), emit(run, 2)]).toEqual([undefined, undefined]);
    expect(emit(execution(2), 3)).toMatchObject({
      code: 'DelayedLimitExceeded',
      message: expect.stringMatching(/^\$emit: delivery_ts is refused: 10000 events with 7 bytes wait in \$in/),
    });
    expect(emit(run, 'over', -1)).toBeUndefined();
    expect(tags()).toEqual(['e', 'e', 'e']);
    waiting.told({ count: 0, bytes: 0 });
    expect(emit(run, 3)).toBeUndefined();
  });

  it('throws once the payloads would have too many bytes', () => {
    const { execution, waiting } = world();
    waiting.told({ count: 1, bytes: DELAYED_LIMITS.bytes - 3 });
    const run = execution();
    expect(emit(run, 'ab')).toMatchObject({ code: 'DelayedLimitExceeded' });
    expect(emit(run, 'a')).toBeUndefined();
  });
});

describe('a run that has ended', () => {
  it('reports each kind of later work once, and sends nothing else', async () => {
    const { execution, reports, tags } = world();
    const run = execution(7);
    run.end();
    const before = tags().length;
    for (let i = 0; i < 3; i++) {
      await run.emit({ n: i }, { id: 1 });
      await run.respond({ status: 200 });
      run.dbSet('key', i);
      run.log('console.log', 'words');
      run.end({ thrown: new TypeError('no') });
      run.end();
    }
    expect(reports()).toEqual([
      [7, 'emit', '{"n":0}'],
      [7, 'respond', ''],
      [7, 'db', 'key "key"'],
      [7, 'log', '"words"'],
      [7, 'error', expect.stringMatching(/^TypeError: no/)],
    ]);
    expect(tags().slice(before)).toEqual(['p', 'p', 'p', 'p', 'p']);
  });

  it('never throws for a value that JSON refuses', async () => {
    const { execution, reports } = world();
    const run = execution();
    run.end();
    await run.emit(1n);
    expect(reports()).toEqual([[1, 'emit', 'a value of type bigint']]);
  });
});
