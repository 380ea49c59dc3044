import { test } from 'node:test';
import { given } from 'sluice/test';

test('passes on what is large enough, from another source or by a request', async () => {
  const outcome = await given('./component.mjs', { props: { smallest: 20 } }).when(
    { event: { id: 'A1', amount: 25 } },
    { event: { id: 'A2', amount: 5 } },
    { request: { body: { id: 'A3', amount: 30 } } },
  );
  outcome.expect({ emits: [{ summary: 'A1: 25' }, { summary: 'A3: 30' }], logs: [{ text: 'A2: 5 is below 20' }] });
});
