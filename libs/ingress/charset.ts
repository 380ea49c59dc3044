import { setImmediate as turn } from 'node:timers/promises';
import { MIMEType } from 'node:util';
import iconv, { type Encoding } from 'iconv-lite';

// iconv-lite, and not TextDecoder: Node 20 reads 0x80 to 0x9F of windows-1252 (the euro sign, quotation marks) as control
// characters, and its ICU lacks half of the Korean syllables that senders of EUC-KR write.

const BYTES_A_TURN = 64 * 1024;

/** Encodings of iconv-lite that are not charsets of texts, or in which ASCII means other characters. */
const NO_CHARSETS: ReadonlySet<string> = new Set(['base64', 'hex', 'binary', 'cesu8', 'utf7', 'utf7imap']);
const UNDECODABLE = '\ufffd';
const FORM_SYNTAX = '%20+=&';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * The charset of a content type. Undefined when its text is read as UTF-8: for UTF-8 itself, ASCII, none, and one that is
 * not known.
 */
export const charsetOf = (contentType: string): Encoding | undefined => {
  if (!/charset/i.test(contentType)) return undefined;
  let name: string;
  try {
    name = new MIMEType(contentType).params.get('charset')?.trim() ?? '';
  } catch {
    return undefined;
  }
  if (/^utf-?8$/i.test(name) || NO_CHARSETS.has(name.toLowerCase().replace(/[^0-9a-z]/g, ''))) return undefined;
  if (!iconv.encodingExists(name)) return undefined;
  const codec = iconv.getCodec(name);
  if (codec === iconv.getCodec('utf8') || codec === iconv.getCodec('ascii')) return undefined;
  // Like browsers, because senders that name Latin-1 mean its superset.
  return codec === iconv.getCodec('iso-8859-1') ? 'windows-1252' : name;
};

/**
 * Text of bytes, with its byte order mark where it is UTF-8. A part of a long text is decoded in each turn. Undefined for
 * bytes that are no text of the charset.
 */
export const textOf = async (bytes: Buffer, charset: Encoding | undefined): Promise<string | undefined> => {
  if (charset === undefined || bytes.subarray(0, MARK.length).equals(MARK)) {
    try {
      return utf8.decode(bytes);
    } catch {
      return undefined;
    }
  }
  const decoder = iconv.getDecoder(charset);
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += BYTES_A_TURN) {
    if (at > 0) await turn();
    parts.push(decoder.write(bytes.subarray(at, at + BYTES_A_TURN)));
  }
  parts.push(decoder.end() ?? '');
  const text = parts.join('');
  return text.includes(UNDECODABLE) ? undefined : text;
};

/**
 * Decodes a name or value of a form, given as Latin-1 text of its bytes with their escapes. Undefined for a charset in
 * which a form looks different, such as UTF-16: then the decoded text has to be split.
 */
export const formDecoder = (charset: Encoding): ((part: string) => string) | undefined => {
  if (iconv.encode(FORM_SYNTAX, charset).toString('latin1') !== FORM_SYNTAX) return undefined;
  return (part) => {
    const bytes = part.replace(/%([0-9a-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(parseInt(hex, 16)));
    return iconv.decode(Buffer.from(bytes, 'latin1'), charset);
  };
};
