import { LATE_KINDS } from '../protocol/late-work.js';
import { MAX_CHILD_RECORD_BYTES, RUN_LIMITS, TEXT_LIMITS } from '../protocol/protocol.js';
import { HEADER_BYTES, writeHeader } from '#libs/framing/records.js';

type Random = () => number;

const TAGS = [
  'ready',
  'loadfail',
  'meta',
  'invalid',
  's',
  'e',
  'l',
  'b',
  'r',
  'd',
  'x',
  'g',
  'p',
  'v',
  '__proto__',
  'zz',
  '',
];
const SIZES = [
  ...[TEXT_LIMITS.channel, TEXT_LIMITS.emitId, TEXT_LIMITS.summary, TEXT_LIMITS.dbKey].flatMap((n) => [
    n - 1,
    n,
    n + 1,
  ]),
  ...[RUN_LIMITS.dbValueBytes - 2, RUN_LIMITS.dbValueBytes - 1, RUN_LIMITS.dbValueBytes],
];
const WORDS = [
  ...['', '$errors', '$logs', '$in', '__proto__', 'constructor', '\u0000', 'a\nb', '\ud800', 'x\udfff', '\u{1F600}'],
  ...['console.log', 'console.', 'inv_1', '../..', '{"a":', 'é'.repeat(100)],
];

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
const chance = (random: Random, of: number): boolean => random() < of;

/** Well-formed record. */
export const plainRecord = (index: number, message: readonly unknown[], raw = ''): Buffer =>
  recordOf(index, JSON.stringify(message), Buffer.from(raw));

const recordOf = (index: number, json: string, raw: Buffer): Buffer => {
  const head = Buffer.from(json);
  const record = Buffer.alloc(HEADER_BYTES + head.length + raw.length);
  writeHeader(record, 0, index, head.length, raw.length);
  head.copy(record, HEADER_BYTES);
  raw.copy(record, HEADER_BYTES + head.length);
  return record;
};

const text = (random: Random): string =>
  chance(random, 0.2)
    ? pick(random, ['x', 'ü', '\u{1F600}', '\ud83d']).repeat(pick(random, SIZES))
    : pick(random, WORDS);

const number = (random: Random): number =>
  pick(random, [0, 1, 2, 5, 8, 9, -1, 0.5, 200, 99, 599, 1_000, 1e15, 8.65e15, 1e308, -0, 2 ** 53, 2 ** 32]);

const any = (random: Random, depth = 2): unknown => {
  switch (Math.floor(random() * (depth === 0 ? 5 : 7))) {
    case 0:
    case 1:
      return text(random);
    case 2:
    case 3:
      return number(random);
    case 4:
      return pick(random, [null, true, false]);
    case 5:
      return Array.from({ length: Math.floor(random() * 4) }, () => any(random, depth - 1));
    default:
      return Object.fromEntries(
        Array.from({ length: Math.floor(random() * 4) }, () => [text(random).slice(0, 300), any(random, depth - 1)]),
      );
  }
};

const run = (random: Random): number => 1 + Math.floor(random() * 8);
const error = (random: Random): unknown =>
  chance(random, 0.7)
    ? { name: text(random), message: text(random), stack: text(random), code: text(random) }
    : any(random);

/** Random message that an honest child could send. */
const valid = (random: Random): readonly [readonly unknown[], string] => {
  const n = run(random);
  const json = (): string => JSON.stringify(any(random)) ?? 'null';
  switch (Math.floor(random() * 10)) {
    case 0:
      return [['l', n, 'console.log', 5], text(random).toWellFormed()];
    case 1:
      return [['b', n, text(random), 0], json()];
    case 2:
      return [['b', n, text(random), 1], ''];
    case 3:
      return [['r', n, 200, { [pick(random, ['a', 'x y', 'Set-Cookie'])]: text(random) }, 0, 0], text(random)];
    case 4:
      return chance(random, 0.1)
        ? [['d', n, number(random), chance(random, 0.5) ? null : error(random)], '']
        : [['l', n, 'console.info', 1], ''];
    case 5:
      return chance(random, 0.5)
        ? [['x', n, 0], '']
        : [['p', chance(random, 0.2) ? 0 : n, pick(random, LATE_KINDS), 5], text(random).toWellFormed().slice(0, 100)];
    default:
      return [['e', n, text(random), any(random, 0), text(random), number(random)], json()];
  }
};

const anything = (random: Random): readonly [readonly unknown[], string] => [
  [pick(random, TAGS), ...Array.from({ length: Math.floor(random() * 6) }, () => any(random))],
  text(random),
];

const DEEP = 200_000;
const broken = (random: Random, json: string): string => {
  switch (Math.floor(random() * 6)) {
    case 0:
      return json.slice(0, Math.floor(random() * json.length));
    case 1:
      return `[${'['.repeat(DEEP)}${']'.repeat(DEEP)}]`;
    case 2:
      return json.padEnd(520_000, ' ');
    case 3:
      return `${json}${json}`;
    case 4:
      return json.replace(',', `,${'['.repeat(300)}"\\ud800"${']'.repeat(300)},`);
    default:
      return json.replace(/"/g, "'");
  }
};

export interface FuzzedBytes {
  readonly bytes: Buffer;
  /** Number of records with the expected index. */
  readonly counted: 0 | 1;
}

/** Record that a hostile child may send at position `index`. About half are those of an honest child. */
export const fuzzedBytes = (random: Random, index: number): FuzzedBytes => {
  if (chance(random, 0.05)) {
    const bytes = Buffer.from(Array.from({ length: 1 + Math.floor(random() * 40) }, () => Math.floor(random() * 256)));
    return { bytes, counted: 0 };
  }
  const [message, raw] = chance(random, 0.85) ? valid(random) : anything(random);
  const json = JSON.stringify(message);
  const at = chance(random, 0.03) ? pick(random, [0, index - 1, index + 1, 2 ** 32 - 1]) : index;
  const record = recordOf(at, chance(random, 0.05) ? broken(random, json) : json, rawOf(random, raw));
  // Writes a length that does not match the parts.
  if (chance(random, 0.03))
    record.writeUInt32LE(
      pick(random, [0, 1, MAX_CHILD_RECORD_BYTES - 40, MAX_CHILD_RECORD_BYTES, 2 ** 32 - 1]),
      pick(random, [4, 8]),
    );
  return { bytes: record, counted: at === index ? 1 : 0 };
};

const rawOf = (random: Random, raw: string): Buffer => {
  if (chance(random, 0.03)) return Buffer.from([0xff, 0xc0, 0x80, 34]);
  if (chance(random, 0.02)) return Buffer.alloc(pick(random, [65_536, 1_048_576]), '[');
  return Buffer.from(raw);
};
