import { type IncomingHttpHeaders } from 'node:http';

/** Limits of what is kept of the headers of an answer (docs/reference/limits.md#answer-headers-kept). */
export const HEADERS_KEPT = 50;
export const HEADER_CHARACTERS_KEPT = 4_096;
const MASKED = '********';

/** The first headers of an answer, as many as fit. Cookies are credentials of the receiver. */
export const keptHeaders = (headers: IncomingHttpHeaders): Readonly<Record<string, string>> => {
  const kept: [name: string, value: string][] = [];
  let characters = 0;
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined) continue;
    const text = name === 'set-cookie' ? MASKED : typeof value === 'string' ? value : value.join(', ');
    characters += name.length + text.length;
    if (kept.length === HEADERS_KEPT || characters > HEADER_CHARACTERS_KEPT) break;
    kept.push([name, text]);
  }
  return Object.fromEntries(kept);
};
