import { describe, expect, it } from '@jest/globals';
import { type EmitHeaders } from './envelopes.js';
import {
  appHookInvocation,
  emitInvocation,
  hookInvocation,
  httpInvocation,
  type Invocation,
  manualInvocation,
  settledInvocation,
  timerInvocation,
} from './invocations.js';
import { emitIds } from './emit-ids.js';
import { perEmitterTopics, sharedTopics } from './topics.js';

const all = <T>(count: number, of: T): T[] => Array.from({ length: count }, () => of);

const topics = perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 });
const call = { sourceId: 'dc_1', workspaceId: 'o_1', now: 1_700_000_000_500 };
const event = '{"spaced":   1}';
const emitHeaders: EmitHeaders = {
  kind: 'emit',
  id: '1700000000000-1',
  emitter: 'dc_0',
  workspace: 'o_1',
  channel: '',
  emit: 'emit-1',
  hops: '3',
};
const passOn = (headers: EmitHeaders): Invocation =>
  emitInvocation(topics, { headers, value: event }, { sourceId: 'dc_1', subscriptionId: 'sub_1' });

/** Returns the bytes of the headers on the wire, without the random half of an id. */
const wire = ({ headers }: Invocation): string =>
  JSON.stringify(headers).replace(/inv_0loyw3vg4[0-9a-z]{9}/, 'inv_0loyw3vg4*');

describe('the headers of invocations', () => {
  it.each([
    [
      'http',
      httpInvocation(topics, { ...call, prop: 'http', respond: 'here', event }),
      '{"id":"inv_0loyw3vg4*","kind":"http","source":"dc_1","workspace":"o_1","at":"1700000000500","hops":"0","prop":"http","respond":"here"}',
    ],
    [
      'http, with the body once',
      httpInvocation(topics, { ...call, prop: 'http', respond: '', event }, { body: '3,9' }),
      '{"id":"inv_0loyw3vg4*","kind":"http","source":"dc_1","workspace":"o_1","at":"1700000000500","hops":"0","prop":"http","respond":"","body":"3,9"}',
    ],
    [
      'timer',
      timerInvocation(topics, { ...call, prop: 'timer', dueAt: 1_700_000_000_000, event }),
      '{"id":"inv_1syxpraq9tpj5sdtef","kind":"timer","source":"dc_1","workspace":"o_1","at":"1700000000000","hops":"0","prop":"timer","respond":""}',
    ],
    [
      'apphook',
      appHookInvocation(topics, { ...call, prop: 'hook', event }),
      '{"id":"inv_0loyw3vg4*","kind":"apphook","source":"dc_1","workspace":"o_1","at":"1700000000500","hops":"0","prop":"hook","respond":""}',
    ],
    [
      'emit',
      passOn(emitHeaders),
      '{"id":"inv_z2b4atypphhf7gttjr","kind":"emit","source":"dc_1","workspace":"o_1","at":"1700000000000","hops":"4","prop":"","respond":"","emitter":"dc_0","emit":"emit-1","subscription":"sub_1","event":"1700000000000-1"}',
    ],
    [
      'emit that no list keeps',
      passOn({ ...emitHeaders, nostore: '1' }),
      '{"id":"inv_z2b4atypphhf7gttjr","kind":"emit","source":"dc_1","workspace":"o_1","at":"1700000000000","hops":"4","prop":"","respond":"","emitter":"dc_0","emit":"emit-1","subscription":"sub_1","event":"1700000000000-1","nostore":"1"}',
    ],
    [
      'manual',
      manualInvocation(topics, { ...call, respond: 'here', event }),
      '{"id":"inv_0loyw3vg4*","kind":"manual","source":"dc_1","workspace":"o_1","at":"1700000000500","hops":"0","prop":"","respond":"here"}',
    ],
    [
      'hook',
      hookInvocation(topics, { ...call, respond: 'replies.p', request: event }),
      '{"id":"inv_0loyw3vg4*","kind":"hook","source":"dc_1","workspace":"o_1","at":"1700000000500","hops":"0","prop":"","respond":"replies.p"}',
    ],
    [
      'settled',
      settledInvocation(topics, { sourceId: 'dc_1', now: call.now, end: event }),
      '{"id":"inv_0loyw3vg4*","kind":"settled","source":"dc_1","workspace":"","at":"1700000000500","hops":"0","prop":"","respond":""}',
    ],
  ])('of kind %s stay the same on the wire', (_, invocation, golden) => {
    expect(wire(invocation)).toBe(golden);
    expect(invocation).toMatchObject({ topic: 'invocations.dc_1', key: 'dc_1', value: event });
  });

  it('derives the id of a tick and of an emit, and gives every other invocation its own', () => {
    const tick = { ...call, prop: 'timer', dueAt: 1, event };
    const ids = (invocations: readonly Invocation[]): number =>
      new Set(invocations.map(({ headers }) => headers.id)).size;
    expect(ids([timerInvocation(topics, tick), timerInvocation(topics, tick)])).toBe(1);
    expect(ids([timerInvocation(topics, tick), timerInvocation(topics, { ...tick, dueAt: 2 })])).toBe(2);
    expect(ids([passOn(emitHeaders), passOn(emitHeaders)])).toBe(1);
    const manual = { ...call, respond: '', event };
    expect(ids([manualInvocation(topics, manual), manualInvocation(topics, manual)])).toBe(2);
  });

  it('carry a time that a repeat has too: of an emit that of its id, also when it is emitted again', () => {
    const emit = emitIds('inv_0', Date.UTC(2026, 0, 1))(0);
    const first = passOn({ ...emitHeaders, emit });
    const again = passOn({ ...emitHeaders, emit, id: '1800000000000-1' });
    expect([first.headers.at, again.headers.at]).toEqual(all(2, String(Date.UTC(2026, 0, 1))));
    expect(again.headers.id).toBe(first.headers.id);
  });

  it('tell the place of an emit of a source, but not of a replay, the platform or the router', () => {
    const placed = (over: Partial<EmitHeaders>): unknown => {
      const { subscription, event: id } = passOn({ ...emitHeaders, ...over }).headers;
      return [subscription, id];
    };
    expect(placed({})).toEqual(['sub_1', emitHeaders.id]);
    expect([placed({ emitter: 'o_1' }), placed({ id: '1700000000000-1000000' })]).toEqual(
      all(2, [undefined, undefined]),
    );
    const replay = { id: 'rpl_1', startedAt: 5 };
    const { headers } = emitInvocation(
      topics,
      { headers: emitHeaders, value: event },
      { sourceId: 'dc_1', subscriptionId: 'sub_1', replay },
    );
    expect(headers).toMatchObject({ at: '5', replay: 'rpl_1' });
    expect([headers['subscription'], headers['event']]).toEqual([undefined, undefined]);
  });

  it('go to the shared topic, with the source as key', () => {
    const shared = sharedTopics({ emitsAgeMs: 1, emitsBytes: 1 }, 4);
    const invocation = manualInvocation(shared, { ...call, respond: '', event });
    expect(invocation).toMatchObject({ topic: 'invocations.shared', key: 'dc_1' });
  });
});
