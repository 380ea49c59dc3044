import { afterAll, describe, expect, it } from '@jest/globals';
import { type Data } from '#test/harness/api-client.js';
import { send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { SmtpServer } from '#test/harness/smtp-server.js';
import { eventually } from '#test/harness/wait.js';

interface Send {
  readonly id: string;
  readonly state: string;
}
interface Run {
  readonly state: string;
  readonly error: { readonly message: string } | null;
  readonly steps: readonly { readonly sends: readonly Send[] }[];
}
interface Workflow {
  readonly triggers: readonly { readonly endpoint_url: string }[];
}

// Started first, because the instance gets its address.
const smtp = await SmtpServer.start();
afterAll(() => smtp.stop());

const instance = useInstance({ env: { SLUICE_SMTP_URL: smtp.url } });
const { api } = instance;

/** Runs a step, and resolves with the run once that holds. */
const runOf = async (code: string, event: object, holds: (run: Run) => boolean): Promise<Run> => {
  const steps = [{ namespace: 'a', code: `export default { async run({ event, $ }) { ${code} } }` }];
  const body = { name: 'Sends', triggers: [{ type: 'http' }], steps };
  const { data } = await api.expect<Data<Workflow>>(200, 'POST', '/v1/workflows', { body });
  const { headers } = await send(data.triggers[0]?.endpoint_url ?? '', { body: event });
  return eventually(
    'the run',
    async () => {
      const { body } = await api.call<Partial<Data<Run>>>('GET', `/v1/runs/${String(headers['x-sluice-run-id'])}`);
      return body.data && holds(body.data) ? body.data : undefined;
    },
    60_000,
  );
};
const sendsOf = ({ steps }: Run): readonly Send[] => steps[0]?.sends ?? [];
const isDone = (run: Run): boolean => sendsOf(run).every(({ state }) => state !== 'queued');

// docs/reference/workflows.md#step-send
describe('$.send', () => {
  it('58: throws at the call for a wrong field', async () => {
    const run = await runOf('$.send.http({ url: 5 })', {}, ({ state }) => state === 'failed');
    expect(run.error?.message).toBe('$send.http: invalid value 5 for url');
    expect(sendsOf(run)).toEqual([]);
  });

  it('59: http goes out while the run waits, under the id of its record', async () => {
    const code = '$.send.http({ url: event.body.url, data: { a: 1 } }); $.flow.suspend()';
    const { url } = instance.receiver;
    const run = await runOf(code, { url }, (found) => found.state === 'waiting' && isDone(found));
    const id = expect.stringMatching(/^snd_/);
    expect(sendsOf(run)).toEqual([{ id, kind: 'http', state: 'sent', attempts: 1, status: 200, error: null }]);
    expect(instance.receiver.received).toMatchObject([
      { method: 'POST', body: { a: 1 }, headers: { 'x-pd-send-id': sendsOf(run)[0]?.id } },
    ]);
  });

  it('email goes to the creator of the workflow, once, under the id of its record', async () => {
    const code = '$.send.email({ subject: "Hello", text: "plain words", html: "<b>marked</b>" })';
    const run = await runOf(code, {}, (found) => found.state === 'succeeded' && isDone(found));
    expect(sendsOf(run)).toMatchObject([{ kind: 'email', state: 'sent', attempts: 1, error: null }]);
    const { data: me } = await api.expect<Data<{ email: string }>>(200, 'GET', '/v1/users/me');
    // The failed run of another case is mailed too.
    const mails = smtp.received.filter(({ text }) => text.includes('Subject: Hello'));
    expect(mails.map(({ to }) => to)).toEqual([[me.email]]);
    for (const part of ['plain words', '<b>marked</b>', `Message-ID: <${sendsOf(run)[0]?.id}@`])
      expect(mails[0]?.text).toContain(part);
  });
});
