import { describe, expect, it } from '@jest/globals';
import { bodyHeader, bodyRangeOf, wholeEvent } from './http-event.js';

const head = '{"method":"POST","bodyRaw":"","body":';
const body = '{"a": "é\\""}';
const text = `${head}${body},"url":"u"}`;

describe('the event of a request whose body stands once', () => {
  it('is made whole by the range in the header', () => {
    const range = bodyRangeOf(text, bodyHeader(head, body));
    const whole = JSON.stringify({ method: 'POST', bodyRaw: body, body: JSON.parse(body) as object, url: 'u' });
    expect(wholeEvent(text, range)).toBe(whole.replace('{"a":"é', '{"a": "é'));
  });

  it('is the text itself without a header', () => {
    expect(bodyRangeOf(text, undefined)).toBeUndefined();
    expect(wholeEvent(text, undefined)).toBe(text);
  });

  const start = head.length;
  it.each([
    ...['', ',', 'x', '1', '0,0', 'NaN,NaN', '-1,5', '0,5'],
    ...[`${start}`, `${start},`, `${start},${start}`, `${start},${start - 1}`, `${start},x`],
    ...[`${start - 1},${start + 2}`, `${start + 1},${start + 2}`, `${start},${text.length + 1}`, `${start},Infinity`],
  ])('is the text itself with a header that does not fit it: "%s"', (header) => {
    expect(bodyRangeOf(text, header)).toBeUndefined();
  });

  it('stays JSON with an end that is wrong', () => {
    for (let end = start + 1; end <= text.length; end++) {
      const range = bodyRangeOf(text, `${start},${end}`);
      expect(range).toBeDefined();
      expect(JSON.parse(wholeEvent(text, range))).toMatchObject({ body: { a: 'é"' }, url: 'u' });
    }
  });
});
