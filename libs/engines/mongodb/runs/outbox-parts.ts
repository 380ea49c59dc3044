import { type Collection } from 'mongodb';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { documentsById } from '../documents-by-id.js';
import { repeated } from '../repeated.js';
import { type RunDocument } from './run-document.js';

/** Most text of one part. A single larger record gets a part of its own. */
const PART_BYTES = 2 << 20;

export interface OutboxPart {
  readonly _id: string;
  /** Name of the state. */
  readonly state: string;
  /** The version that the commit makes unless it is refused. */
  readonly seq: number;
  readonly token: string;
  readonly records: string;
}

const idOf = (token: string, part: number): string => `${token}/${part}`;

/** Records of commits that are too large for the document of their state. Written before the commit that refers to them. */
export class OutboxParts {
  constructor(private readonly parts: Collection<OutboxPart>) {}

  /** Resolves with the number of parts once all of them are durable. */
  async write(state: string, seq: number, token: string, records: readonly LogRecord[]): Promise<number> {
    const texts = splitRecords(records, PART_BYTES);
    for (const [part, text] of texts.entries()) {
      await this.parts.insertOne({ _id: idOf(token, part), state, seq, token, records: text });
    }
    return texts.length;
  }

  /** Returns undefined when the parts are gone, because the state was dropped. */
  async read(token: string, count: number): Promise<LogRecord[] | undefined> {
    const records: LogRecord[] = [];
    for (let part = 0; part < count; part++) {
      const found = await this.parts.findOne({ _id: idOf(token, part) });
      if (!found) return undefined;
      records.push(...(JSON.parse(found.records) as LogRecord[]));
    }
    return records;
  }

  async remove(tokens: readonly string[]): Promise<void> {
    if (tokens.length > 0) await this.parts.deleteMany({ token: { $in: [...tokens] } });
  }

  async removeState(state: string): Promise<void> {
    await repeated(() => this.parts.deleteMany({ state }));
  }

  async removeBetween(above: string, below: string): Promise<void> {
    await repeated(() => this.parts.deleteMany({ state: { $gt: above, $lt: below } }));
  }

  /**
   * Removes the parts of commits that were refused, or whose process died before the commit's own write. The state has
   * reached that version without them, so no commit can refer to them any more. Parts of later versions stay.
   */
  async sweep(documents: Collection<RunDocument>): Promise<void> {
    for await (const part of documentsById(this.parts, ['state', 'seq', 'token'])) {
      const document = await documents.findOne(
        { _id: part.state },
        { projection: { version: 1, outbox: 1 }, readConcern: 'majority' },
      );
      if (!document || document.version < part.seq) continue;
      const entry = document.outbox?.[part.seq];
      const referred = typeof entry === 'object' && entry.token === part.token;
      if (!referred) await this.parts.deleteOne({ _id: part._id });
    }
  }
}

/** JSON arrays that together hold all the records in order. */
export const splitRecords = (records: readonly LogRecord[], limit: number): string[] => {
  const texts: string[] = [];
  let open: string[] = [];
  let bytes = 0;
  for (const record of records) {
    const text = JSON.stringify(record);
    const size = Buffer.byteLength(text) + 1;
    if (open.length > 0 && bytes + size > limit) {
      texts.push(`[${open.join(',')}]`);
      [open, bytes] = [[], 0];
    }
    open.push(text);
    bytes += size;
  }
  if (open.length > 0) texts.push(`[${open.join(',')}]`);
  return texts;
};
