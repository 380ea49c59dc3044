import { test } from 'node:test';
import { given } from 'sluice/test';

test('greets whoever posts a name', async () => {
  const outcome = await given('./component.mjs').when({ request: { body: { name: 'Ada' } } });
  outcome.expect({ emits: [{ summary: 'Hello, Ada!' }], reply: { status: 200 } });
});
