import { afterAll, describe, expect, it } from '@jest/globals';
import { type Data } from '#test/harness/api-client.js';
import { send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { SmtpServer } from '#test/harness/smtp-server.js';
import { eventually } from '#test/harness/wait.js';

interface Workflow {
  readonly id: string;
  readonly triggers: readonly { readonly endpoint_url: string }[];
}

// Started first, because the instance gets its address.
const smtp = await SmtpServer.start();
afterAll(() => smtp.stop());

// docs/reference/workflows.md#run-error-emails
describe('the errors of a workflow', () => {
  const instance = useInstance({ env: { SLUICE_SMTP_URL: smtp.url } });
  const { api } = instance;

  const failing = async (more: object = {}): Promise<Workflow> => {
    const code = 'export default { run({ steps }) { throw new Error(steps.trigger.event.body?.why ?? "test") } }';
    const body = { name: 'Orders', triggers: [{ type: 'http' }], steps: [{ namespace: 'a', code }], ...more };
    return (await api.expect<Data<Workflow>>(200, 'POST', '/v1/workflows', { body })).data;
  };
  const fail = async ({ triggers }: Workflow, ...reasons: string[]): Promise<void> => {
    // A restarted server has another port.
    const { pathname } = new URL(triggers[0]?.endpoint_url ?? '');
    for (const why of reasons) await send(`${instance.server.url}${pathname}`, { body: { why } });
  };
  const subjectsAbout = ({ id }: Workflow): readonly (string | undefined)[] =>
    smtp.received.filter(({ text }) => text.includes(id)).map(({ text }) => /^Subject: (.*)$/m.exec(text)?.[1]?.trim());
  const errors = (workflow: Workflow, count: number) =>
    eventually(`${count} errors`, async () => {
      const path = `/v1/workflows/${workflow.id}/$errors/event_summaries`;
      const { data } = await api.expect<Data<object[]>>(200, 'GET', path);
      return data.length >= count ? data : undefined;
    });
  const mails = (workflow: Workflow, count: number) =>
    eventually(`${count} mails`, () => (subjectsAbout(workflow).length >= count ? true : undefined), 30_000);

  it('72: are summaries and deliveries each, and one mail to the creator when they are equal, over a restart', async () => {
    const workflow = await failing();
    await instance.listen(workflow.id, '$errors');
    await fail(workflow, 'no order', 'no order', 'no order');
    expect(await errors(workflow, 3)).toHaveLength(3);
    await eventually('three deliveries', () => (instance.receiver.received.length === 3 ? true : undefined), 30_000);
    await mails(workflow, 1);
    await instance.server.restart();
    await fail(workflow, 'no order', 'no money');
    await mails(workflow, 2);
    expect(subjectsAbout(workflow)).toEqual(['Orders: Error: no order', 'Orders: Error: no money']);
    const { data: me } = await api.expect<Data<{ email: string }>>(200, 'GET', '/v1/users/me');
    expect(smtp.received.every(({ to }) => to.join() === me.email)).toBe(true);
  }, 90_000);

  it('are not mailed with error_notification: false, nor those of tests', async () => {
    const quiet = await failing({ settings: { error_notification: false } });
    const tested = await failing();
    await fail(quiet, 'silent');
    await api.expect(200, 'POST', `/v1/workflows/${tested.id}/invoke`, { body: { test: true, wait: true, event: {} } });
    await errors(quiet, 1);
    // The mails of one server go out in order.
    const later = await failing();
    await fail(later, 'told');
    await mails(later, 1);
    expect([subjectsAbout(quiet), subjectsAbout(tested)]).toEqual([[], []]);
  }, 90_000);
});
