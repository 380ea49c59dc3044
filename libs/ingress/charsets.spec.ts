import { describe, expect, it } from '@jest/globals';
import { createHmac } from 'node:crypto';
import iconv from 'iconv-lite';
import { bodyRangeOf, wholeEvent } from '#libs/component-model/http-event.js';
import { endpointEvent } from './endpoint-event.js';

const eventOf = async (body: Buffer, type: string): Promise<Record<string, unknown>> => {
  const headers = { 'content-type': type };
  const request = { method: 'POST', path: '/', query: '', headers, body, clientIp: '::1', url: 'http://h/' };
  const { text } = await endpointEvent(request, false);
  const once = await endpointEvent(request, true);
  expect(wholeEvent(once.text, bodyRangeOf(once.text, once.bodyAt))).toBe(text);
  return JSON.parse(text) as Record<string, unknown>;
};
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

// docs/reference/component-model.md#endpoint-charset
describe('the charset of a body', () => {
  it.each<[string, string, Buffer, unknown]>([
    ['JSON', 'application/json; charset=ISO-8859-1', latin1('{"n":"caf\xE9"}'), { n: 'café' }],
    ['a quoted name', 'application/json; x="a;charset=utf-8"; Charset="iso-8859-1"', latin1('["\xE9"]'), ['é']],
    ['a +json type', 'application/vnd.api+json;charset=latin1', latin1('["\xE9"]'), ['é']],
    ['the euro sign and quotation marks', 'text/plain; charset=windows-1252', latin1('\x80 \x93x\x94'), '€ “x”'],
    ['which senders of Latin-1 mean too', 'text/plain; charset=ISO-8859-1', latin1('\x80'), '€'],
    ['ISO-8859-15', 'text/plain; charset=iso-8859-15', latin1('\xA4'), '€'],
    ['Cyrillic', 'text/xml; charset=windows-1251', iconv.encode('<a>Привет</a>', 'win1251'), '<a>Привет</a>'],
    ['KOI8-R', 'application/xml; charset=koi8-r', iconv.encode('<a>Привет</a>', 'koi8-r'), '<a>Привет</a>'],
    ['Japanese', 'application/json; charset=Shift_JIS', iconv.encode('{"n":"ソ表①"}', 'shiftjis'), { n: 'ソ表①' }],
    ['EUC-JP', 'text/plain; charset=euc-jp', iconv.encode('日本', 'eucjp'), '日本'],
    ['Chinese', 'text/plain; charset=GB2312', iconv.encode('中文', 'gbk'), '中文'],
    ['GB 18030', 'text/plain; charset=gb18030', iconv.encode('中㐀🙂', 'gb18030'), '中㐀🙂'],
    ['Big5', 'text/plain; charset=big5', iconv.encode('中文', 'big5'), '中文'],
    ['Korean, with rare syllables', 'text/plain; charset=euc-kr', iconv.encode('한글 똠', 'cp949'), '한글 똠'],
    ['UTF-16 with its mark', 'application/json; charset=utf-16', iconv.encode('{"n":"é"}', 'utf16'), { n: 'é' }],
    ['UTF-16BE', 'application/json; charset=UTF-16BE', iconv.encode('{"n":"é"}', 'utf16be'), { n: 'é' }],
    ['UTF-8 in spite of its name', 'application/json; charset=us-ascii', Buffer.from('["é"]'), ['é']],
    ['UTF-8, as its mark says', 'text/plain; charset=iso-8859-1', Buffer.from('\ufeffé'), 'é'],
  ])('decides how text is read: %s', async (_name, type, bytes, body) => {
    const event = await eventOf(bytes, type);
    expect(event['body']).toEqual(body);
    expect(event).not.toHaveProperty('isBase64Encoded');
  });

  it.each<[string, string, Buffer, string, unknown]>([
    ['escapes', 'iso-8859-1', latin1('n=caf%E9&caf%E9=%80+1'), 'n=caf%E9&caf%E9=%80+1', { n: 'café', café: '€ 1' }],
    ['bytes', 'iso-8859-1', latin1('n=caf\xE9'), 'n=café', { n: 'café' }],
    [
      'a byte that is a letter',
      'Shift_JIS',
      latin1('n=%83A%83%5C&m=%83A'),
      'n=%83A%83%5C&m=%83A',
      { n: 'アソ', m: 'ア' },
    ],
    ['repeated names', 'windows-1251', latin1('a=%CF&a=%D0&b=%zz'), 'a=%CF&a=%D0&b=%zz', { a: ['П', 'Р'], b: '%zz' }],
    ['UTF-8', 'utf-8', latin1('n=caf%C3%A9'), 'n=caf%C3%A9', { n: 'café' }],
    ['UTF-16', 'utf-16le', Buffer.from('n=é&m=1', 'utf16le'), 'n=é&m=1', { n: 'é', m: '1' }],
  ])('decides how a form is read, whose bodyRaw stays: %s', async (_name, charset, bytes, raw, body) => {
    const event = await eventOf(bytes, `application/x-www-form-urlencoded; charset=${charset}`);
    expect([event['bodyRaw'], event['body']]).toEqual([raw, body]);
  });

  it.each(['x-unknown', 'constructor', 'base64', 'hex', 'binary', 'utf-7', '', '"'])(
    'that is not known is taken for UTF-8: %j',
    async (charset) => {
      const type = `text/plain; charset=${charset}`;
      expect(await eventOf(Buffer.from('+ADw- é aGk='), type)).toMatchObject({ body: '+ADw- é aGk=' });
      const bytes = latin1('caf\xE9');
      expect(await eventOf(bytes, type)).toMatchObject({ body: bytes.toString('base64'), isBase64Encoded: true });
    },
  );

  it.each(['euc-jp', 'big5', 'windows-1253'])('keeps bytes that are no text of it, as base64: %s', async (charset) => {
    const bytes = latin1('a\xFF\xFF\xD2\xFF');
    const event = await eventOf(bytes, `application/json; charset=${charset}`);
    expect(event).toMatchObject({ body: bytes.toString('base64'), isBase64Encoded: true });
  });

  it.each(['shift_jis', 'gb18030', 'utf-16le', 'windows-1251'])(
    'reads a long text in many turns, with no character lost between them: %s',
    async (charset) => {
      const text = `x${'\u0414'.repeat(100_000)}`;
      let turns = 0;
      const counting = setInterval(() => turns++, 0);
      const count = (): void => void (turns++, (next = setImmediate(count)));
      let next = setImmediate(count);
      const event = await eventOf(iconv.encode(text, charset), `text/plain; charset=${charset}`);
      clearInterval(counting);
      clearImmediate(next);
      expect(event['bodyRaw'] === text).toBe(true);
      expect(turns).toBeGreaterThan(1);
    },
  );
});

const MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const mac = (data: string | Buffer): string => createHmac('sha256', 'key').update(data).digest('hex');

// docs/reference/component-model.md#endpoint-signatures
describe('a signature over bodyRaw', () => {
  const part = '--B\r\nContent-Disposition: form-data; name="ü"\r\n\r\né\r\n--B--\r\n';
  it.each<[string, string, Buffer, unknown]>([
    ['JSON with a mark', 'application/json', Buffer.concat([MARK, Buffer.from('{"a":1}')]), { a: 1 }],
    ['JSON without a type', '', Buffer.concat([MARK, Buffer.from(' {"a":1}')]), { a: 1 }],
    ['text with a mark', 'text/plain; charset=utf-8', Buffer.concat([MARK, Buffer.from('é')]), 'é'],
    ['a mark alone', 'text/plain', MARK, ''],
    ['bad JSON with a mark', 'application/json', Buffer.concat([MARK, Buffer.from('{"a"')]), '{"a"'],
    [
      'a form with a mark',
      'application/x-www-form-urlencoded',
      Buffer.concat([MARK, Buffer.from('a=1&b=%C3%A9')]),
      { a: '1', b: 'é' },
    ],
    ['two marks', 'text/plain', Buffer.concat([MARK, MARK, Buffer.from('x')]), '\ufeffx'],
    ['NUL and line ends', 'text/plain', Buffer.from('a\0\r\n\u2028'), 'a\0\r\n\u2028'],
    ['multipart', 'multipart/form-data; boundary=B', Buffer.from(part), { ü: 'é' }],
  ])('is that over the bytes, and body has no mark: %s', async (_name, type, bytes, body) => {
    const event = await eventOf(bytes, type);
    expect(mac(event['bodyRaw'] as string)).toBe(mac(bytes));
    expect(event['body']).toEqual(body);
  });

  it('is that over the bytes of base64, where they are no text', async () => {
    const bytes = Buffer.concat([
      Buffer.from('--B\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\n'),
      Buffer.from([0xff, 0, 0xfe]),
      Buffer.from('\r\n--B--\r\n'),
    ]);
    const event = await eventOf(bytes, 'multipart/form-data; boundary=B');
    expect(event).toMatchObject({ isBase64Encoded: true, body: { f: { filename: 'x', content: '/wD+' } } });
    expect(mac(Buffer.from(event['bodyRaw'] as string, 'base64'))).toBe(mac(bytes));
  });
});

// docs/reference/component-model.md#endpoint-multipart
describe('names in multipart', () => {
  const bodyOf = async (head: string | Buffer, more = ''): Promise<unknown> => {
    const bytes = Buffer.concat([
      Buffer.from('--B\r\nContent-Disposition: form-data; '),
      Buffer.from(head as string),
      Buffer.from(`${more}\r\n\r\n1\r\n--B--\r\n`),
    ]);
    return (await eventOf(bytes, 'multipart/form-data; boundary=B'))['body'];
  };

  it.each([
    ['of a file', 'name="f"; filename="Übersicht 日本.pdf"', 'f', 'Übersicht 日本.pdf'],
    ['of a field', 'name="größe 🙂"', 'größe 🙂', undefined],
    ['of both', 'name="文件"; filename="é.txt"', '文件', 'é.txt'],
    ['with escapes', 'name="a\\"é"; filename="é\\"x.txt"', 'a"é', 'é"x.txt'],
    ['without quotes', 'name=f; filename=x.txt', 'f', 'x.txt'],
    ['of RFC 5987', 'name="f"; filename="x"; filename*=UTF-8\'\'%C3%9Cber%20%E6%97%A5.pdf', 'f', 'Über 日.pdf'],
    ['of RFC 5987 in Latin-1', 'name="f"; filename*=ISO-8859-1\'\'%DCber.pdf', 'f', 'Über.pdf'],
    ['of a file with a folder', 'name="f"; filename="C:\\\\ä\\\\ö.txt"', 'f', 'ö.txt'],
  ])('are UTF-8: %s', async (_name, head, field, filename) => {
    const value = filename === undefined ? '1' : { filename, mimetype: 'text/plain', content: 'MQ==' };
    expect(await bodyOf(head)).toEqual({ [field]: value });
  });

  it('that are not UTF-8 stay Latin-1, as older senders write them', async () => {
    expect(await bodyOf(latin1('name="stra\xDFe"; filename="\xFCber.txt"'))).toMatchObject({
      straße: { filename: 'über.txt' },
    });
  });

  it('of one form become one list, whichever way they are written', async () => {
    const part = (value: string): string => `--B\r\nContent-Disposition: form-data; name="ü"\r\n\r\n${value}\r\n`;
    const event = await eventOf(Buffer.from(`${part('1')}${part('é')}--B--\r\n`), 'multipart/form-data; boundary=B');
    expect(event['body']).toEqual({ ü: ['1', 'é'] });
  });

  it('keep a body as text whose part has a charset that cannot be read, so that no field is lost', async () => {
    const body =
      '--B\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: text/plain; charset=x-y\r\n\r\n1\r\n--B--';
    expect((await eventOf(Buffer.from(body), 'multipart/form-data; boundary=B'))['body']).toBe(body);
  });
});
