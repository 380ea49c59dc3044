/**
 * The event of a request may contain its body once (docs/adr/0049). `bodyRaw` is then empty in its JSON text, `body` is
 * the text that arrived, and a header has the place of `body`.
 */

/** Place of `body` in the text of an event, in UTF-16 units. */
export interface BodyRange {
  readonly start: number;
  readonly end: number;
}

/** Text right before `body` in an event that contains it once. */
const BEFORE_BODY = '"bodyRaw":"","body":';

/** Header of an invocation whose event contains `body` once, after `head`. */
export const bodyHeader = (head: string, body: string): string => `${head.length},${head.length + body.length}`;

/** Reads the header. Undefined without one, or with one that does not fit the text, which is then the whole event. */
export const bodyRangeOf = (text: string, header: string | undefined): BodyRange | undefined => {
  if (header === undefined) return undefined;
  const comma = header.indexOf(',');
  const start = Number(header.slice(0, comma));
  const end = Number(header.slice(comma + 1));
  const fits = start < end && end <= text.length && text.startsWith(BEFORE_BODY, start - BEFORE_BODY.length);
  return fits ? { start, end } : undefined;
};

/** JSON text of the event with its `bodyRaw`, as `run` receives it. */
export const wholeEvent = (text: string, body: BodyRange | undefined): string => {
  if (body === undefined) return text;
  const bodyRaw = JSON.stringify(text.slice(body.start, body.end));
  return `${text.slice(0, body.start - BEFORE_BODY.length)}"bodyRaw":${bodyRaw},"body":${text.slice(body.start)}`;
};

/** The event that `run` receives, from its text. */
export const parsedEvent = (text: string, body: BodyRange | undefined): unknown => {
  const event: unknown = JSON.parse(text);
  if (body !== undefined) (event as { bodyRaw: string }).bodyRaw = text.slice(body.start, body.end);
  return event;
};
