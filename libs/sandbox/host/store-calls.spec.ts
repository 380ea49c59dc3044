import { describe, expect, it } from '@jest/globals';
import { type DataStoreAccess } from '#libs/component-model/data-store-calls.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { parseChildMessage } from '../protocol/child-message.js';
import { type ChildMessage, STORE_CALLS } from '../protocol/protocol.js';
import { ProtocolBreach } from '#libs/framing/records.js';
import { StoreCalls } from './store-calls.js';

const ID = 'ds_abcdef';
type Call = Extract<ChildMessage, readonly ['q', ...unknown[]]>;
const NOTHING = Buffer.alloc(0);
const get: Call = ['q', 1, 1, 'get', ID, 'k', null];

const opened = (call: DataStoreAccess['call']) => {
  const answers: { message: unknown; text: string | undefined; sent: () => void }[] = [];
  const calls = new StoreCalls(
    { call },
    'o_1',
    (_n, store) => store === ID,
    (message, text, sent) => answers.push({ message, text, sent }),
  );
  return { calls, answers };
};
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const parse = (message: unknown, raw = ''): unknown =>
  parseChildMessage({ index: 0, json: Buffer.from(JSON.stringify(message)), raw: Buffer.from(raw) });

describe('calls of a child to its data stores', () => {
  it('are made in its workspace, and answered', async () => {
    const made: unknown[] = [];
    const { calls, answers } = opened(async (...call) => {
      made.push(call);
      return '[1]';
    });
    calls.receive(['q', 1, 7, 'set', ID, 'k', 5], Buffer.from('"v"'));
    await settled();
    expect(made).toEqual([[ID, 'o_1', { op: 'set', key: 'k', number: 5, value: '"v"' }]]);
    expect(answers).toMatchObject([{ message: { t: 'a', id: 7 }, text: '[1]' }]);
  });

  it('pass on what the author did wrong, and hide what went wrong in the server', async () => {
    const errors = [new DomainError('data_store.full', 'too many'), new Error('password of the database')];
    const { calls, answers } = opened(() => Promise.reject(errors.shift() ?? new Error('no more')));
    calls.receive(get, NOTHING);
    calls.receive(get, NOTHING);
    await settled();
    expect(answers.map(({ message }) => message)).toMatchObject([
      { error: { code: 'data_store.full', message: 'too many' } },
      { error: { code: 'platform.unavailable', message: 'the data store cannot be reached: try again' } },
    ]);
  });

  it('end a child that names a data store which is no prop of its source', () => {
    const { calls } = opened(() => Promise.reject(new Error('not reached')));
    expect(() => calls.receive(['q', 1, 1, 'get', 'ds_forged', 'k', null], NOTHING)).toThrow(ProtocolBreach);
  });

  it('end a child that sends more than it may, or does not read its answers', async () => {
    const { calls, answers } = opened(async () => undefined);
    for (let i = 0; i < 2 * STORE_CALLS; i++) calls.receive(get, NOTHING);
    await settled();
    expect(answers).toHaveLength(2 * STORE_CALLS);
    expect(() => calls.receive(get, NOTHING)).toThrow(/more than 16 calls/);
    answers[0]?.sent();
    answers[1]?.sent();
    calls.receive(get, NOTHING);
  });

  it('end a child whose value is no JSON', () => {
    const { calls } = opened(async () => undefined);
    const set: Call = ['q', 1, 1, 'set', ID, 'k', null];
    expect(() => calls.receive(set, Buffer.from('{'))).toThrow(/no JSON/);
    expect(() => calls.receive(set, Buffer.from([0xff]))).toThrow(/no UTF-8/);
  });

  it('are dropped after the end of the process', async () => {
    let made = 0;
    const { calls, answers } = opened(async () => void made++);
    calls.receive(get, NOTHING);
    calls.close();
    calls.receive(get, NOTHING);
    await settled();
    expect([made, answers]).toEqual([1, []]);
  });
});

describe('the message of a call', () => {
  it.each([
    [get, ''],
    [['q', 1, 1, 'keys', ID, '', null], ''],
    [['q', 1, 1, 'incr', ID, 'k', -1.5], ''],
    [['q', 1, 1, 'set', ID, 'k', null], '1'],
  ])('%j is well-formed', (message, raw) => {
    expect(parse(message, raw)).toEqual(message);
  });

  it.each([
    ['an unknown call', ['q', 1, 1, 'drop', ID, 'k', null], ''],
    ['no key', ['q', 1, 1, 'get', ID, '', null], ''],
    ['a long key', ['q', 1, 1, 'get', ID, 'k'.repeat(1_025), null], ''],
    ['a key that is no text', ['q', 1, 1, 'get', ID, { $gt: '' }, null], ''],
    ['another id', ['q', 1, 1, 'get', '../x', 'k', null], ''],
    ['a number where none belongs', ['q', 1, 1, 'get', ID, 'k', 1], ''],
    ['a time to live below 0', ['q', 1, 1, 'set', ID, 'k', -1], '1'],
    ['nothing to add', ['q', 1, 1, 'incr', ID, 'k', null], ''],
    ['a value where none belongs', get, '1'],
    ['no value', ['q', 1, 1, 'set', ID, 'k', null], ''],
    ['a large value', ['q', 1, 1, 'set', ID, 'k', null], `"${'x'.repeat(256 * 1024)}"`],
    ['a field too many', [...get, 1], ''],
  ])('with %s is a breach', (_, message, raw) => {
    expect(() => parse(message, raw)).toThrow(ProtocolBreach);
  });
});
