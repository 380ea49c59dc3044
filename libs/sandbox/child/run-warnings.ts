/** Texts about values of a run that are accepted and lost (docs/reference/component-model.md#log-warnings). */
import { nearMiss } from '#libs/kernel/near-miss.js';
import { quoted } from './late-work.js';

/** Kinds of warnings, each written once per run. */
export type WarningKind =
  | 'emit-undefined'
  | 'emit-loss'
  | 'emit-metadata'
  | 'emit-ts'
  | 'respond-fields'
  | 'respond-headers'
  | 'respond-loss'
  | 'respond-twice'
  | 'db-loss';

export const EMIT_UNDEFINED =
  '$emit: the event is undefined, so null is emitted. Pass the value to emit, and await it if a promise brings it';

export const RESPOND_TWICE = 'respond was called again in this run: the first reply counts, and this one is ignored';

const METADATA: ReadonlySet<string> = new Set(['id', 'name', 'summary', 'ts', 'delivery_ts']);
const REPLY: ReadonlySet<string> = new Set(['status', 'headers', 'body', 'immediate']);

/** Names that authors know from elsewhere. */
const METADATA_ALIASES = new Map([
  ['channel', 'name'],
  ['event_name', 'name'],
  ['title', 'summary'],
  ['timestamp', 'ts'],
  ['time', 'ts'],
]);
const REPLY_ALIASES = new Map([
  ['statusCode', 'status'],
  ['status_code', 'status'],
  ['code', 'status'],
  ['data', 'body'],
  ['json', 'body'],
  ['content', 'body'],
]);

/** Called for each key of each emit. Comparing is faster than a Set. */
export const isMetadataKey = (key: string): boolean =>
  key === 'id' || key === 'summary' || key === 'ts' || key === 'name' || key === 'delivery_ts';

export const notMetadata = (metadata: unknown): string =>
  `$emit: the second argument is ${quoted(metadata)} and is ignored: it must be an object of id, name, summary, ts and delivery_ts` +
  (typeof metadata === 'string' ? `. To emit on that channel, pass { name: ${quoted(metadata)} }` : '');

/** @param ts value that is no time. Its JSON would show NaN and an invalid Date as null. */
export const unreadTs = (ts: unknown): string => {
  const isNumber = typeof ts === 'number' || typeof ts === 'bigint' || ts instanceof Date;
  const shown = isNumber ? String(ts) : quoted(ts);
  return `$emit: ts is ${shown}, which is no time in epoch milliseconds, so the event goes out without a ts of its own. Pass a number such as Date.now() or date.getTime()`;
};

/** @param names of headers as they were given */
export const droppedHeaders = (names: readonly string[]): string =>
  `respond: ${names.length === 1 ? 'the header' : 'the headers'} ${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} left out: the server sets what belongs to the connection. Leave ${names.length === 1 ? 'it' : 'them'} out of headers`;

export const unknownMetadata = (key: string): string =>
  unknownKey('$emit: the second argument', key, METADATA, METADATA_ALIASES);

/** Fault in the argument of `respond`, or undefined. */
export const faultOfReply = (input: unknown): string | undefined => {
  if (input === undefined || input === null) return undefined;
  if (typeof input !== 'object' || Array.isArray(input) || input instanceof Uint8Array)
    return `respond: the argument is ${quoted(input)} and is ignored: pass an object, { status: 200, body: … }`;
  for (const key in input) if (!REPLY.has(key)) return unknownKey('respond: the argument', key, REPLY, REPLY_ALIASES);
  return undefined;
};

const unknownKey = (
  what: string,
  key: string,
  known: ReadonlySet<string>,
  aliases: ReadonlyMap<string, string>,
): string => {
  const meant = aliases.get(key) ?? nearMiss(key, known);
  const remedy = meant === undefined ? `Known fields are ${[...known].join(', ')}` : `Write ${quoted(meant)} instead`;
  return `${what} has the field ${quoted(key.slice(0, 100))}, which is ignored. ${remedy}`;
};
