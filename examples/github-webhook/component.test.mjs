import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { given } from 'sluice/test';

const SECRET = 'webhook-secret';
const hook = given('./component.mjs', { props: { secret: SECRET }, now: '2026-01-01T00:00:00Z' });

const delivery = (id, payload, secret = SECRET) => {
  const body = JSON.stringify(payload);
  return {
    request: {
      body,
      headers: {
        'content-type': 'application/json',
        'x-github-delivery': id,
        'x-github-event': 'issues',
        'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      },
    },
  };
};
const payload = { action: 'opened', repository: { full_name: 'octo/planner' }, sender: { login: 'ada' } };

test('emits each delivery once', async () => {
  const outcome = await hook.when(delivery('d1', payload), delivery('d1', payload));
  outcome.expect({
    emits: [
      {
        id: 'd1',
        summary: 'issues opened in octo/planner by ada',
        ts: Date.parse('2026-01-01T00:00:00Z'),
        event: { event: 'issues', payload },
      },
    ],
    dropped: [{ id: 'd1' }],
    reply: { status: 200, body: { accepted: 'd1' } },
  });
});

test('refuses a delivery that another secret signed', async () => {
  const outcome = await hook.when(delivery('d1', payload, 'another-secret'));
  outcome.expect({
    emits: [],
    reply: { status: 401 },
    logs: [{ kind: 'console.error', text: /^delivery d1 refused/ }],
  });
});

test('refuses a delivery without its headers', async () => {
  const { request } = delivery('d1', payload);
  const { 'x-github-event': _, ...headers } = request.headers;
  const outcome = await hook.when({ request: { ...request, headers } });
  outcome.expect({ emits: [], reply: { status: 400, body: { error: /are required/ } } });
});
