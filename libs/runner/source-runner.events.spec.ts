import { describe, expect, it } from '@jest/globals';
import { ok } from './testing/fake-sandbox.js';
import { definition, sourceWorld, until } from './testing/source-world.js';

describe('the events of a source', () => {
  it('are masked in the error of a run whose commit is refused', async () => {
    const t = sourceWorld({ auto: () => ok({ dbChanges: { a: JSON.stringify('x'.repeat(2 << 20)) } }) });
    t.world.definition = definition({ endpoints: [{ prop: 'http', key: 'e0123456789abcde', customResponse: false }] });
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
