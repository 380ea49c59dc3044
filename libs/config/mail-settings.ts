import { optionalText } from './setting.js';

const MAIL = 'Emails';

const smtpUrl = (given: string): string | undefined =>
  URL.canParse(given) && /^smtps?:$/.test(new URL(given).protocol) && new URL(given).hostname !== ''
    ? given
    : undefined;

/** One address, alone or after a name. */
const sender = (given: string): string | undefined =>
  /^(?:[^<>@\p{Cc}]* ?<[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/u.test(given) ? given : undefined;

export const mail = {
  smtpUrl: optionalText({
    name: 'SLUICE_SMTP_URL',
    group: MAIL,
    shownDefault: 'none: no email is sent',
    secret: true,
    allowed: 'smtp://host:port or smtps://user:password@host:port, with reserved characters percent-encoded',
    accept: smtpUrl,
    sentence: 'Mail server for emails about errors, and for `$.send.email` of workflows.',
  }),
  smtpFrom: optionalText({
    name: 'SLUICE_SMTP_FROM',
    group: MAIL,
    shownDefault: 'Sluice <sluice@host of the public URL>',
    allowed: 'an address such as sluice@example.com or Sluice <sluice@example.com>',
    accept: sender,
    sentence: 'Sender of emails.',
  }),
} as const;
