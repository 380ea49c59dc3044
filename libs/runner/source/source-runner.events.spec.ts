import { describe, expect, it } from '@jest/globals';
import { type RunRequest } from '#libs/sandbox/index.js';
import { ok } from './testing/fake-sandbox.js';
import { definition, sourceWorld, until } from './testing/source-world.js';

describe('the events of a source', () => {
  it('are handed over in either form, and are whole and masked in errors', async () => {
    const requests: RunRequest[] = [];
    const error = { name: 'Error', message: 'no', stack: '', code: 'Error' };
    const t = sourceWorld({ auto: (request) => (requests.push(request), ok({ status: 'threw', error })) });
    t.world.definition = definition({
      props: [{ kind: 'http', prop: 'http', key: 'e0123456789abcde', customResponse: false }],
    });
    const runner = await t.load();
    const of = (body: string, bodyRaw: string): string => `{"bodyRaw":${bodyRaw},"body":${body},"url":"/h/e"}`;
    const secret = '{"at": "/h/e0123456789abcde"}';
    await runner.accept([
      t.invocation(0, {}, of('[ 1]', '"[ 1]"')),
      t.invocation(1, { body: '21,25' }, of('[ 1]', '""')),
      t.invocation(2, { body: `21,${21 + secret.length}` }, of(secret, '""')),
      t.invocation(3, { body: '5,500000' }, of('[ 1]', '""')),
    ]);
    await until(() => t.acked.length === 4);
    const ranges = requests.map(({ body }) => body);
    expect(ranges).toEqual([undefined, { start: 21, end: 25 }, { start: 21, end: 21 + secret.length }, undefined]);
    const errors = t.journal.records.filter(({ headers }) => headers['channel'] === '$errors');
    const events = errors.map(({ value }) => (JSON.parse(value) as { original_event: object }).original_event);
    const whole = { bodyRaw: '[ 1]', body: [1], url: '/h/e' };
    const masked = { bodyRaw: '{"at": "/h/********"}', body: { at: '/h/********' }, url: '/h/e' };
    expect(events.map((event) => JSON.stringify(event))).toEqual(
      [whole, whole, masked, { ...whole, bodyRaw: '' }].map((event) => JSON.stringify(event)),
    );
  });

  it('are masked in the error of a run whose commit is refused', async () => {
    const t = sourceWorld({ auto: () => ok({ dbChanges: { a: JSON.stringify('x'.repeat(2 << 20)) } }) });
    t.world.definition = definition({
      props: [{ kind: 'http', prop: 'http', key: 'e0123456789abcde', customResponse: false }],
    });
    const runner = await t.load();
    await runner.accept([t.invocation(0, {}, '{"url":"/h/e0123456789abcde"}')]);
    await until(() => t.acked.length === 1);
    const [error] = t.journal.records.filter(({ headers }) => headers['channel'] === '$errors');
    expect(JSON.parse(error?.value ?? '')).toMatchObject({
      original_event: { url: '/h/********' },
      error: { code: 'DbLimitExceeded' },
    });
  });
});
