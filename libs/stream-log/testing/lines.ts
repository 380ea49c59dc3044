import { type Doc } from '#libs/kernel/read-model-store.js';
import { type StreamProjection } from '../stream-projection.js';
import { type LogRecord } from '../stream-log.js';

export interface Line extends Doc {
  readonly list: string;
  readonly sort: string;
  readonly text: string;
}

/** Interprets `put <sort> <text>`, `remove <from> <to>` and `poison`. */
export const lines: StreamProjection<Line> = {
  name: 'specs.lines.v1',
  prefix: 'lines.',
  schema: { name: 'specs.lines.v1', indexed: ['list'], sort: 'sort' },
  keep: { by: 'list', newest: 5 },
  interpret({ key, value }) {
    const [verb, first = '', second = ''] = value.split(' ');
    if (verb === 'poison') throw new Error('cannot be read');
    if (verb === 'put') return { kind: 'put', docs: [{ id: `${key}/${first}`, list: key, sort: first, text: second }] };
    if (verb === 'remove') return { kind: 'remove', where: { list: key }, from: first, to: second };
    return undefined;
  },
  ofKey: (key) => [{ list: key }],
};

export const record = (key: string, value: string): LogRecord => ({ topic: `lines.${key}`, key, headers: {}, value });
export const put = (key: string, ...sorts: string[]): LogRecord[] =>
  sorts.map((sort) => record(key, `put ${sort} t${sort}`));
