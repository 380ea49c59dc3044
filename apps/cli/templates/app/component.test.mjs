import { test } from 'node:test';
import { given } from 'sluice/test';

const state = {
  accounts: { app: { api_key: 'a-key' } },
  http: [{ url: 'https://api.example.com/items/1', reply: { body: { id: 1 } } }],
};

test('sends the key of the account', async () => {
  const outcome = await given('./action.mjs', state).when({ run: { id: '1' } });
  outcome.expect({ ret: { id: 1 }, requests: [{ headers: { authorization: 'Bearer a-key' } }] });
});

test('fails when the API refuses', async () => {
  const http = [{ url: /./, reply: { status: 403 } }];
  const outcome = await given('./action.mjs', { ...state, http }).when({ run: { id: '1' } });
  outcome.expect({ error: { message: '/items/1 answered 403' } });
});
