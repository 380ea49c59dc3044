import { test } from 'node:test';
import { given } from 'sluice/test';

const url = 'https://api.example.com/items';

test('emits each item once', async () => {
  const http = [
    { url, times: 1, reply: { body: [{ id: 1 }] } },
    { url, reply: { body: [{ id: 1 }, { id: 2 }] } },
  ];
  const outcome = await given('./component.mjs', { props: { token: 'a-token' }, http }).when({ after: '10m' });
  outcome.expect({
    emits: [{ id: 1 }, { id: 2 }],
    dropped: [{ id: 1 }],
    requests: [{ headers: { authorization: 'Bearer a-token' } }, {}],
  });
});

test('fails when the API does', async () => {
  const http = [{ url, reply: { status: 503 } }];
  const outcome = await given('./component.mjs', { props: { token: 'a-token' }, http }).when({ tick: 'timer' });
  outcome.expect({ emits: [], error: { message: `${url} answered 503` } });
});
