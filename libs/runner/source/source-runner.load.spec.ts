import { describe, expect, it } from '@jest/globals';
import { BundleNotLoaded } from '#libs/sandbox/index.js';
import { sourceWorld, until } from './testing/source-world.js';

describe('a source whose process cannot be started', () => {
  it('fails each run of a bundle that cannot be loaded, as the error of the author', async () => {
    const error = { name: 'SyntaxError', message: 'bad', stack: 's', code: 'SyntaxError' };
    const t = sourceWorld({ loadError: new BundleNotLoaded('dc_1', error) });
    const runner = await t.load();
    await runner.accept([t.invocation(0)]);
    await until(() => t.acked.length === 1);
    const errors = t.journal.records.filter((record) => record.headers['channel'] === '$errors');
    expect(errors).toHaveLength(1);
    expect(errors[0]?.value).toContain('"original_event":{"n":0}');
  });

  it('does not take the failure of a database for one of the author, whatever its cause looks like', async () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', errno: -111 });
    const t = sourceWorld({ loadError: new Error('the blob cannot be read', { cause }) });
    const runner = await t.load();
    await runner.accept([t.invocation(0)]);
    await until(() => t.logged.length > 0);
    expect(t.acked).toEqual([]);
    expect(t.journal.records).toEqual([]);
    await runner.close(0);
  });
});
