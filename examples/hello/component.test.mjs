import { test } from 'node:test';
import { given } from 'sluice/test';

test('greets whoever posts a name', async () => {
  const outcome = await given('./component.mjs').when({ request: { body: { name: 'Ada' } } });
  outcome.expect({
    emits: [{ event: { greeting: 'Hello, Ada!', received: { name: 'Ada' } }, summary: 'Hello, Ada!' }],
    logs: [{ text: 'POST / from 127.0.0.1' }],
    reply: { status: 200, body: { success: true } },
    error: undefined,
  });
});

test('greets the world without a name', async () => {
  const outcome = await given('./component.mjs').when({ request: { path: '/any' } });
  outcome.expect({ emits: [{ summary: 'Hello, world!' }] });
});
