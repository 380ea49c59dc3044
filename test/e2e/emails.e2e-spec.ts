import { afterAll, describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody, type Source } from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { SmtpServer } from '#test/harness/smtp-server.js';
import { eventually } from '#test/harness/wait.js';

const FAILING = componentCode({ members: `run(event) { throw new Error(event.body.why); },` });

interface ErrorEmails {
  readonly source_id: string;
  readonly enabled: boolean;
  readonly user_id: string | null;
}

// Started first, because the instance gets its address.
let smtp = await SmtpServer.start();
afterAll(() => smtp.stop());

// docs/reference/rest-api.md#error-emails
describe('emails about errors', () => {
  const instance = useInstance({ env: { SLUICE_SMTP_URL: smtp.url } });
  const { api } = instance;

  const switched = (id: string, enabled: boolean) =>
    api.expect<Data<ErrorEmails>>(200, 'PUT', `/v1/sources/${id}/error_emails`, { body: { enabled } });
  const failing = async (name: string): Promise<Source> => {
    const source = await instance.deploy(FAILING, {}, name);
    await switched(source.id, true);
    return source;
  };
  const about = (source: Source) => smtp.received.filter(({ text }) => text.includes(source.id));
  const mails = (source: Source, count: number) =>
    eventually(`${count} mails`, async () => (about(source).length >= count ? about(source) : undefined), 30_000);
  const failures = (source: Source, count: number) => instance.history(source, count, '$errors', 30_000);

  // docs/reference/rest-api.md#error-emails
  it('send one mail for each distinct error in 24 hours to the user who switched them on', async () => {
    const { data: me } = await api.expect<Data<{ id: string; email: string }>>(200, 'GET', '/v1/users/me');
    const source = await failing('Orders');
    expect((await api.expect<Data<ErrorEmails>>(200, 'GET', `/v1/sources/${source.id}/error_emails`)).data).toEqual({
      source_id: source.id,
      enabled: true,
      user_id: me.id,
    });
    for (let n = 0; n < 20; n++) await instance.post(source, { why: 'no order' });
    await instance.post(source, { why: 'no money' });
    await failures(source, 21);
    const [first, second] = await mails(source, 2);
    expect(first?.to).toEqual([me.email]);
    expect(first?.text).toContain('Subject: Orders: Error: no order');
    expect(second?.text).toContain('Subject: Orders: Error: no money');
    await instance.post(source, { why: 'third' });
    await mails(source, 3);
    expect(about(source)).toHaveLength(3);
  });

  it('send no second one after the server was killed', async () => {
    const source = await failing('Killed');
    await instance.post(source, { why: 'again and again' });
    await mails(source, 1);
    await instance.server.restart();
    await instance.post(source, { why: 'again and again' });
    await instance.post(source, { why: 'another' });
    await mails(source, 2);
    expect(about(source).map(({ text }) => /^Subject: (.*)$/m.exec(text)?.[1]?.trim())).toEqual([
      'Killed: Error: again and again',
      'Killed: Error: another',
    ]);
  }, 90_000);

  it('are sent when the mail server is back', async () => {
    const source = await failing('Patient');
    const { port } = smtp;
    await smtp.stop();
    await instance.post(source, { why: 'unheard' });
    await failures(source, 1);
    smtp = await SmtpServer.start(port);
    expect((await mails(source, 1))[0]?.text).toContain('Patient: Error: unheard');
  }, 60_000);

  // docs/reference/rest-api.md#error-emails
  it('are off by default, stop when they are switched off, and go with the source', async () => {
    const source = await instance.deploy(FAILING, {}, 'Silent');
    await instance.post(source, { why: 'never asked' });
    await failures(source, 1);
    await switched(source.id, true);
    expect((await switched(source.id, false)).data).toEqual({ source_id: source.id, enabled: false, user_id: null });
    await instance.post(source, { why: 'not any more' });
    await failures(source, 2);
    const loud = await failing('Loud');
    await instance.post(loud, { why: 'heard' });
    await mails(loud, 1);
    expect(about(source)).toEqual([]);
    await api.expect(204, 'DELETE', `/v1/sources/${loud.id}`);
    const gone = await api.call<ErrorBody>('GET', `/v1/sources/${loud.id}/error_emails`);
    expect([gone.status, gone.body.code]).toEqual([404, 'source_not_found']);
  });

  it('are refused with the field that is wrong', async () => {
    const source = await instance.deploy(FAILING);
    const reply = await api.call<ErrorBody>('PUT', `/v1/sources/${source.id}/error_emails`, {
      body: { enabled: 'maybe' },
    });
    expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_parameter', details: { field: 'enabled' } } });
  });
});

describe('a server without a mail server', () => {
  const instance = useInstance();

  it('refuses to switch emails on, and names the setting', async () => {
    const source = await instance.deploy(FAILING);
    const path = `/v1/sources/${source.id}/error_emails`;
    const reply = await instance.api.call<ErrorBody>('PUT', path, { body: { enabled: true } });
    expect([reply.status, reply.body.code]).toEqual([409, 'email_not_configured']);
    expect(reply.body.error).toContain('SLUICE_SMTP_URL');
    await instance.api.expect(200, 'PUT', path, { body: { enabled: false } });
  });
});
