import { setTimeout as pause } from 'node:timers/promises';
import { CommandFailure } from '../failure.js';
import { PASSING } from '../act-after-changes.js';
import { exactLine, exactly, type Fields, fieldText, isFields, jsonLine, objectsIn, textOf } from '../json.js';
import { observationLine } from '../observations.js';
import { type Session, withQuery } from '../session.js';
import { cut, type Line, type Part } from '../text.js';
import { type Report, type ReportType } from './report.js';

/** A server that starts again is back within this time. What a run left is not waited for longer. */
const BACK_MS = 60_000;
const AGAIN_MS = 500;
/** Columns of a value of the db. */
const MOST_SHOWN = 100;

/** Tells runs of a source that ended, with what each left. */
export class Runs {
  /** Values of `$.service.db` by key, as JSON. Undefined while they are not known. */
  private db: ReadonlyMap<string, string> | undefined;

  constructor(
    private readonly session: Session,
    private readonly report: Report,
    private readonly sourceId: string,
    private readonly signal: AbortSignal,
  ) {}

  /** What the db has from now on is told as changed. Rejects with CommandFailure. */
  async begin(): Promise<void> {
    this.db = await this.readDb();
  }

  /** @param ended what the stream told of the run, which stays when the run itself cannot be read. */
  async tell(ended: Fields): Promise<void> {
    const { report } = this;
    const id = fieldText(ended, 'invocation_id');
    const { emits, logs, ...fields } = await this.run(id, ended);
    report.tell('run', { ...fields, id, emits: countIn(emits), logs: countIn(logs) }, [runLine(fields)]);
    for (const event of objectsIn(emits)) report.tell('emit', event, [emitLine(event)]);
    for (const log of objectsIn(logs)) report.tell(...logged(log));
    if (isFields(fields['error'])) report.tell(...(await this.failed(id, fields['error'])));
    await this.tellDb(id);
    const status = fields['http_status'];
    if (typeof status === 'number') report.tell('reply', { id, http_status: status }, []);
  }

  private async run(id: string, ended: Fields): Promise<Fields> {
    const data = await this.read(`runs/${id}`);
    return isFields(data) ? data : ended;
  }

  /** With the line of the author, which the event about the error has. */
  private async failed(id: string, error: Fields): Promise<[ReportType, Fields, readonly Line[]]> {
    const summaries = await this.read(withQuery('$errors/event_summaries', { expand: 'event', limit: '20' }));
    const found = objectsIn(summaries).find(({ metadata }) => fieldText(metadata, 'invocation_id') === id)?.['event'];
    const whole = isFields(found) && isFields(found['error']) ? found['error'] : found;
    const err = isFields(whole) ? whole : error;
    return ['error', { id, ...err }, [observationLine({ err })]];
  }

  private async tellDb(id: string): Promise<void> {
    const former = this.db;
    const db = await this.readDb();
    this.db = db;
    if (former === undefined || db === undefined) return;
    for (const [key, value] of db)
      if (former.get(key) !== value) this.report.tell(...changed({ id, key, value: exactly(value) }));
    for (const key of former.keys()) if (!db.has(key)) this.report.tell(...changed({ id, key }));
  }

  private async readDb(): Promise<ReadonlyMap<string, string> | undefined> {
    const data = await this.read('db');
    if (!isFields(data)) return undefined;
    return new Map(Object.entries(data).map(([key, value]) => [key, exactLine(value)]));
  }

  /** What a route of the source answers. Undefined when it has that no longer, or its server is away for long. */
  private async read(route: string): Promise<unknown> {
    const path = `/v1/sources/${this.sourceId}/${route}`;
    for (const last = performance.now() + BACK_MS; ;) {
      try {
        return (await this.session.request({ method: 'GET', path }))['data'];
      } catch (error) {
        if (!(error instanceof CommandFailure)) throw error;
        const isBackSoon = PASSING.includes(error.exit) && performance.now() < last;
        if (!isBackSoon || this.signal.aborted) return undefined;
        await pause(AGAIN_MS, undefined, { signal: this.signal }).catch(() => undefined);
      }
    }
  }
}

/** The run itself has the list, and the stream its length. */
const countIn = (value: unknown): unknown => (Array.isArray(value) ? value.length : value);

const runLine = ({ kind, status, ms, http_status: http }: Fields): Line => {
  const state: Part = { text: textOf(status), as: status === 'ok' ? 'good' : 'bad' };
  return [`${textOf(kind)} `, state, ` in ${textOf(ms)} ms${typeof http === 'number' ? `, HTTP ${http}` : ''}`];
};

const emitLine = ({ event, metadata }: Fields): Line => {
  const [channel, summary] = [fieldText(metadata, 'name'), fieldText(metadata, 'summary')];
  const name: Part = { text: channel === '' ? 'emit' : `emit ${channel}`, as: 'strong' };
  return [name, ` ${summary === '' ? '' : `${summary}  `}${jsonLine(event)}`];
};

const logged = ({ event }: Fields): [ReportType, Fields, readonly Line[]] => {
  const log = isFields(event) ? event : { k: 'log', msg: event };
  return [log['k'] === 'warning' ? 'warning' : 'log', log, [observationLine(log)]];
};

/** A key of the db with its new value, or without one when it is deleted. */
const changed = (change: Fields): [ReportType, Fields, readonly Line[]] => {
  const isSet = 'value' in change;
  const shown = isSet ? ` = ${short(jsonLine(change['value']))}` : ' is deleted';
  const line: Line = [{ text: 'db', as: 'dim' }, ` ${textOf(change['key'])}${shown}`];
  return ['db', isSet ? change : { ...change, deleted: true }, [line]];
};

/** To find the width of a text takes as long as it is. */
const short = (text: string): string => cut(text.slice(0, 2 * MOST_SHOWN), MOST_SHOWN);
