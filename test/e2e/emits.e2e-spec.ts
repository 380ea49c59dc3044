import { describe, expect, it } from '@jest/globals';
import { type Source } from '#test/harness/api-client.js';
import { componentCode, emitterCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance();
type Emit = readonly [payload: unknown, meta?: Record<string, unknown>];

/** Posts the emits of one run, then waits for a last run that emits on a separate channel. */
let markers = 0;
const run = async (source: Source, ...batches: readonly (readonly Emit[])[]): Promise<void> => {
  for (const batch of batches) await instance.post(source, batch);
  const marker = `marker-${++markers}`;
  await instance.post(source, [[null, { name: marker, id: markers }]]);
  await instance.history(source, 1, marker);
};

const now = (source: Source, channel?: string): Promise<readonly unknown[]> => instance.payloads(source, 0, channel);
const source = (members = ''): Promise<Source> => instance.deploy(emitterCode(members));

describe('$emit', () => {
  it('keeps payload, id, summary, ts and channel', async () => {
    const emitter = await source();
    await run(emitter, [[{ a: 1 }, { id: 'one', summary: 'The first', ts: 1_700_000_000_000 }]]);
    const [event] = await instance.history(emitter, 1);
    expect(event).toMatchObject({
      id: expect.stringMatching(/^\d{13}-\d+$/),
      indexed_at_ms: expect.any(Number),
      event: { a: 1 },
      metadata: {
        emit_id: expect.stringMatching(/^[0-9A-Za-z]{27}$/),
        name: '',
        emitter_id: emitter.id,
        invocation_id: expect.stringMatching(/^inv_/),
        id: 'one',
        summary: 'The first',
        ts: 1_700_000_000_000,
      },
    });
    expect(event?.id.startsWith(`${event.indexed_at_ms}-`)).toBe(true);
  });

  it('accepts any JSON, turns undefined into null, and copies at the call', async () => {
    const code = componentCode({
      members: `run() {
        const later = { n: 1 };
        for (const value of ['text', 7, false, null, undefined, [1], later]) this.$emit(value);
        later.n = 2;
      },`,
    });
    const emitter = await instance.deploy(code);
    await instance.post(emitter, {});
    expect(await instance.payloads(emitter, 7)).toEqual(['text', 7, false, null, null, [1], { n: 1 }]);
  });

  // docs/reference/rest-api.md#event-id
  it('sends events with ts oldest first, and ids rise', async () => {
    const emitter = await source();
    await run(emitter, [
      ['c', { ts: 3_000 }],
      ['a', { ts: 1_000 }],
      ['now', {}],
      ['b', { ts: 2_000 }],
    ]);
    expect(await now(emitter)).toEqual(['a', 'b', 'c', 'now']);
  });

  // docs/reference/rest-api.md#errors-event
  it('keeps emits from before a throw, and puts the error on $errors', async () => {
    const emitter = await instance.deploy(
      componentCode({
        props: `http: '$.interface.http', db: '$.service.db'`,
        members: `run(event) {
          this.db.set('seen', event.body.n);
          this.$emit({ kept: true });
          throw Object.assign(new RangeError('too far'), { code: 'E_FAR' });
        },`,
      }),
    );
    await instance.post(emitter, { n: 5 });
    expect(await instance.payloads(emitter, 1)).toEqual([{ kept: true }]);
    const [error] = await instance.history(emitter, 1, '$errors');
    expect(error?.metadata).toMatchObject({ name: '$errors', emitter_id: emitter.id });
    expect(error?.event).toMatchObject({
      original_event: { method: 'POST', bodyRaw: '{"n":5}', body: { n: 5 } },
      original_context: {
        id: expect.any(String),
        ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        source_id: emitter.id,
        component_id: emitter.component_id,
        owner_id: expect.stringMatching(/^o_/),
      },
      error: {
        code: 'E_FAR',
        name: 'RangeError',
        message: 'too far',
        ts: expect.stringMatching(/Z$/),
        stack: expect.stringContaining('RangeError: too far'),
      },
    });
  });

  it('throws on values that JSON cannot represent', async () => {
    const emitter = await instance.deploy(componentCode({ members: `run() { this.$emit({ n: 10n }); },` }));
    await instance.post(emitter, {});
    const [error] = await instance.history(emitter, 1, '$errors');
    expect(JSON.stringify(error?.event)).toMatch(/\$emit/);
  });

  // docs/reference/rest-api.md#logs-event
  it('puts console output on $logs, a line each', async () => {
    const emitter = await instance.deploy(
      componentCode({
        members: `run() { console.log('one', 1, { a: [true] }); console.error('two'); console.warn('three'); },`,
      }),
    );
    await instance.post(emitter, {});
    const lines = await instance.payloads(emitter, 3, '$logs');
    expect(lines).toEqual([
      { k: 'console.log', ts: expect.any(Number), msg: expect.stringMatching(/^one 1 .*true/) },
      { k: 'console.error', ts: expect.any(Number), msg: 'two' },
      { k: 'console.warn', ts: expect.any(Number), msg: 'three' },
    ]);
    expect((await instance.api.summaries(emitter.id)).data).toEqual([]);
  });

  it('works in methods and as a promise', async () => {
    const emitter = await instance.deploy(
      componentCode({
        members: `methods: { tell(what) { return this.$emit(what); } },
          async run() { const { tell } = this; await tell('through a method'); await this.$emit('awaited').then(() => this.$emit('after')); },`,
      }),
    );
    await instance.post(emitter, {});
    expect(await instance.payloads(emitter, 3)).toEqual(['through a method', 'awaited', 'after']);
  });
});

describe('dedupe unique', () => {
  it('emits an id once, across runs and within one, per channel', async () => {
    const emitter = await source(`dedupe: 'unique',`);
    await run(
      emitter,
      [
        ['a', { id: 1 }],
        ['a again', { id: '1' }],
        ['b', { id: 2 }],
      ],
      [
        ['b again', { id: 2 }],
        ['c', { id: 3 }],
      ],
      [
        ['on self', { id: 1, name: 'self' }],
        ['on self again', { id: 1, name: 'self' }],
      ],
    );
    expect(await now(emitter)).toEqual(['a', 'b', 'c']);
    expect(await now(emitter, 'self')).toEqual(['on self']);
  });

  it('remembers 100 ids, first in, first out; a repeat does not refresh its place', async () => {
    const emitter = await source(`dedupe: 'unique',`);
    const ids = (from: number, to: number): Emit[] =>
      Array.from({ length: to - from + 1 }, (_, n) => [from + n, { id: from + n }] as const);
    await run(emitter, ids(1, 100), ids(1, 1), ids(101, 101), ids(2, 2), ids(1, 1));
    // The history keeps 100. Id 2 was still known, and 101 had pushed out 1.
    expect(await now(emitter)).toEqual([...Array.from({ length: 99 }, (_, n) => n + 3), 1]);
  });

  it('emits events without an id, with a log line', async () => {
    const emitter = await source(`dedupe: 'unique',`);
    await run(emitter, [['x'], ['x']]);
    expect(await now(emitter)).toEqual(['x', 'x']);
    expect(JSON.stringify(await instance.payloads(emitter, 1, '$logs'))).toMatch(/\bid\b/);
  });
});

describe('dedupe greatest', () => {
  it('passes a newest-first batch with ts completely at first, and none of it the second time', async () => {
    const emitter = await source(`dedupe: 'greatest',`);
    const batch: Emit[] = [30, 20, 10].map((id) => [id, { id, ts: id * 1_000 }]);
    await run(emitter, batch, batch, [
      [31, { id: 31, ts: 31_000 }],
      [29, { id: 29, ts: 29_000 }],
    ]);
    expect(await now(emitter)).toEqual([10, 20, 30, 31]);
  });

  it('drops an id that is no number, with an error in the log', async () => {
    const emitter = await source(`dedupe: 'greatest',`);
    await run(emitter, [
      ['bad', { id: 'nine' }],
      ['good', { id: '9' }],
    ]);
    expect(await now(emitter)).toEqual(['good']);
    expect(JSON.stringify(await instance.payloads(emitter, 1, '$logs'))).toContain('nine');
  });
});

describe('dedupe last', () => {
  it('passes events after the last emitted id, or all when it is missing', async () => {
    const emitter = await source(`dedupe: 'last',`);
    const batch = (...ids: string[]): Emit[] => ids.map((id) => [id, { id }]);
    await run(emitter, batch('a', 'b'), batch('a', 'b', 'c', 'd'), batch('c', 'd'), batch('x', 'y'));
    expect(await now(emitter)).toEqual(['a', 'b', 'c', 'd', 'x', 'y']);
  });

  it('takes the event of newest ts as the last one', async () => {
    const emitter = await source(`dedupe: 'last',`);
    const at = (...ids: number[]): Emit[] => ids.map((id) => [id, { id, ts: id * 1_000 }]);
    await run(emitter, at(3, 2, 1), at(5, 4, 3, 2));
    expect(await now(emitter)).toEqual([1, 2, 3, 4, 5]);
  });
});
