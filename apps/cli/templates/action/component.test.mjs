import { test } from 'node:test';
import { given } from 'sluice/test';

test('greets by name', async () => {
  const outcome = await given('./component.mjs').when({ run: { who: 'Ada' } });
  outcome.expect({ ret: { greeting: 'Hello, Ada!' }, exports: { $summary: 'Hello, Ada!' } });
});
