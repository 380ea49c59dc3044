import { describe, expect, it } from '@jest/globals';
import { errorMail, type ErrorMailFacts } from './error-mail.js';

const eventOf = (error: object): string => JSON.stringify({ original_event: {}, original_context: {}, error });
const mail = (error: object, over: Partial<ErrorMailFacts> = {}) =>
  errorMail({
    to: 'ada@example.com',
    emitterId: 'dc_1',
    name: 'Orders',
    publicUrl: 'https://sluice.example.com',
    emit: 'e1',
    event: eventOf(error),
    isLast: false,
    ...over,
  });

const ERROR = {
  name: 'TypeError',
  message: 'no order',
  stack: 'TypeError: no order\n at run',
  ts: '2026-01-01T00:00:00Z',
};

describe('the mail about an error', () => {
  it('names source, error, time and where to read more', () => {
    const { to, subject, text, messageId } = mail(ERROR);
    expect([to, subject, messageId]).toEqual([
      'ada@example.com',
      'Orders: TypeError: no order',
      '<e1.dc_1@sluice.example.com>',
    ]);
    expect(text).toContain('Source Orders (dc_1) failed at 2026-01-01T00:00:00Z.');
    expect(text).toContain('TypeError: no order\n at run');
    expect(text).toContain('https://sluice.example.com/v1/sources/dc_1/$errors/event_summaries');
    expect(text).toContain('error_emails with {"enabled": false}');
    expect(text).not.toContain('No further error');
  });

  // docs/reference/workflows.md#run-error-emails
  it('names a workflow as such, and the setting that ends the mails', () => {
    const { text } = mail(ERROR, { emitterId: 'p_1' });
    expect(text).toContain('Workflow Orders (p_1) failed at 2026-01-01T00:00:00Z.');
    expect(text).toContain('https://sluice.example.com/v1/workflows/p_1/$errors/event_summaries');
    expect(text).toContain(
      'PUT https://sluice.example.com/v1/workflows/p_1 with {"settings": {"error_notification": false}}',
    );
  });

  it('says when it is the last of the day', () => {
    expect(mail(ERROR, { isLast: true }).text).toContain('No further error of this source is mailed');
  });

  it('has a subject of one line, whatever a component throws, and bounded texts', () => {
    const evil = {
      ...ERROR,
      name: 'E\r\nBcc: eve@example.com',
      message: `x\r\n\r\n${'y'.repeat(9_000)}`,
      stack: 'z'.repeat(9_000),
    };
    const { subject, text } = mail(evil, { name: 'Or\u2028ders\u0000' });
    expect(subject).toMatch(/^Or ders : E Bcc: eve@example\.com: x y+…$/);
    expect(subject).not.toMatch(/[\r\n\u2028]/);
    expect(text.length).toBeLessThan(8_000);
  });

  it('stands whatever an error lacks', () => {
    expect(mail({}).subject).toBe('Orders: :');
    expect(
      errorMail({
        to: 'a@b.c',
        emitterId: 'dc_1',
        name: '',
        publicUrl: 'http://h',
        emit: 'e',
        event: '{}',
        isLast: false,
      }).to,
    ).toBe('a@b.c');
  });
});
