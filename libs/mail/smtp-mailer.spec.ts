import { type AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Mailer, MailRefused } from './mailer.js';
import { smtpMailer } from './smtp-mailer.js';

const closing: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const refused = (code: number, text: string): Error => Object.assign(new Error(text), { responseCode: code });

const serverWith = async (options: SMTPServerOptions = {}) => {
  const received: { from: string; to: readonly string[]; text: string }[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        received.push({
          from,
          to: envelope.rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString(),
        });
        done();
      });
    },
    ...options,
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  return { received, port };
};

const mailerTo = (url: string): Mailer => {
  const mailer = smtpMailer(url, 'Sluice <sluice@example.com>');
  closing.unshift(() => mailer.close());
  return mailer;
};
const MAIL = { to: 'ada@example.com', subject: 'Ürgent: no', text: 'line\n.\nend', messageId: '<e1.dc_1@h>' };

describe('mail over SMTP', () => {
  it('reaches the recipient from the sender, with subject, text and Message-ID', async () => {
    const { received, port } = await serverWith();
    await mailerTo(`smtp://127.0.0.1:${port}`).send(MAIL);
    expect(received).toMatchObject([{ from: 'sluice@example.com', to: ['ada@example.com'] }]);
    const text = received[0]?.text ?? '';
    expect(text).toContain('Message-ID: <e1.dc_1@h>');
    expect(text).toContain('From: Sluice <sluice@example.com>');
    expect(text).toMatch(/^Subject: =\?UTF-8\?/m);
    expect(text).toContain('line\r\n.\r\nend');
  });

  it('logs in with the name and password of the URL', async () => {
    const logins: unknown[] = [];
    const { received, port } = await serverWith({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth({ username, password }, _, done) {
        logins.push([username, password]);
        done(null, { user: username });
      },
    });
    await mailerTo(`smtp://ada:p%40ss@127.0.0.1:${port}`).send(MAIL);
    expect(logins).toEqual([['ada', 'p@ss']]);
    expect(received).toHaveLength(1);
  });

  it('treats a recipient list in an address as one address', async () => {
    const { received, port } = await serverWith();
    const mailer = mailerTo(`smtp://127.0.0.1:${port}`);
    await mailer.send({ ...MAIL, to: 'ada@example.com, eve@example.com' }).catch(() => undefined);
    expect(received.flatMap(({ to }) => to)).not.toContain('eve@example.com');
  });

  it.each([
    [550, true],
    [450, false],
  ])('tells a refusal of one mail from a broken server: %d', async (code, isFinal) => {
    const { port } = await serverWith({ onRcptTo: (_address, _session, done) => done(refused(code, 'not this one')) });
    const error: unknown = await mailerTo(`smtp://127.0.0.1:${port}`)
      .send(MAIL)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(MailRefused);
    expect((error as MailRefused).isFinal).toBe(isFinal);
  });

  it('rejects with another error when the server cannot be reached or refuses the login', async () => {
    const nobody = mailerTo('smtp://127.0.0.1:9');
    await expect(nobody.send(MAIL)).rejects.not.toBeInstanceOf(MailRefused);
    const { port } = await serverWith({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: (_auth, _session, done) => done(refused(535, 'wrong password')),
    });
    await expect(mailerTo(`smtp://ada:x@127.0.0.1:${port}`).send(MAIL)).rejects.not.toBeInstanceOf(MailRefused);
  });
});
