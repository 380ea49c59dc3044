import { setTimeout as pause } from 'node:timers/promises';
import { CommandFailure } from '../../workflows/failure.js';
import { type Fields, fieldText, isFields, jsonLine, textOf } from '../json.js';
import { observationLine } from '../observations.js';
import { type Session, withQuery } from '../session.js';
import { type Line, type Part } from '../text.js';
import { type Report, type ReportType } from './report.js';

const POLL_MS = 400;
/** Runs of one look. Of more in between, those before are left out, and the list of runs has them. */
const LOOKED_AT = '100';
const MOST_KNOWN = 1_000;
const WAITING: ReadonlySet<string> = new Set(['queued', 'running']);

/** Tells each run of a source that ends, with what it left. */
export class Runs {
  private readonly told = new Set<string>();

  constructor(
    private readonly session: Session,
    private readonly report: Report,
    private readonly sourceId: string,
  ) {}

  /** Leaves out those that have ended until now. Rejects with CommandFailure. */
  async begin(): Promise<void> {
    for (const run of await this.ended()) this.told.add(fieldText(run, 'id'));
  }

  /** Resolves after the signal. What cannot be read now is read later. */
  async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        for (const run of await this.ended()) await this.tell(fieldText(run, 'id'));
      } catch (error) {
        if (!(error instanceof CommandFailure)) throw error;
      }
      await pause(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Oldest first. */
  private async ended(): Promise<readonly Fields[]> {
    const path = withQuery(`/v1/sources/${this.sourceId}/runs`, { limit: LOOKED_AT });
    const { data } = await this.session.request({ method: 'GET', path });
    const runs = Array.isArray(data) ? data.filter(isFields) : [];
    return runs.filter((run) => !WAITING.has(fieldText(run, 'status'))).reverse();
  }

  private async tell(id: string): Promise<void> {
    if (this.told.has(id)) return;
    const run = await this.read(id);
    this.told.add(id);
    const [oldest] = this.told.size > MOST_KNOWN ? this.told : [];
    if (oldest !== undefined) this.told.delete(oldest);
    if (run === undefined) return;
    const { emits, logs, ...fields } = run;
    const [events, lines] = [emits, logs].map((each) => (Array.isArray(each) ? each.filter(isFields) : []));
    this.report.tell('run', { ...fields, emits: events?.length, logs: lines?.length }, [runLine(fields)]);
    for (const event of events ?? []) this.report.tell('emit', event, [emitLine(event)]);
    for (const log of lines ?? []) this.report.tell(...logged(log));
    if (isFields(run['error'])) this.report.tell(...(await this.failed(id, run['error'])));
    const status = run['http_status'];
    if (typeof status === 'number') this.report.tell('reply', { id, http_status: status }, []);
  }

  /** Undefined when it is no longer kept. */
  private async read(id: string): Promise<Fields | undefined> {
    try {
      const { data } = await this.session.request({ method: 'GET', path: `/v1/sources/${this.sourceId}/runs/${id}` });
      return isFields(data) ? data : undefined;
    } catch (error) {
      if (error instanceof CommandFailure && error.exit === 4) return undefined;
      throw error;
    }
  }

  /** With the line of the author, which the event about the error has. */
  private async failed(id: string, error: Fields): Promise<[ReportType, Fields, readonly Line[]]> {
    const path = withQuery(`/v1/sources/${this.sourceId}/$errors/event_summaries`, { expand: 'event', limit: '20' });
    const { data } = await this.session.request({ method: 'GET', path });
    const summaries = Array.isArray(data) ? data.filter(isFields) : [];
    const found = summaries.find(({ metadata }) => fieldText(metadata, 'invocation_id') === id)?.['event'];
    const whole = isFields(found) && isFields(found['error']) ? found['error'] : found;
    const err = isFields(whole) ? whole : error;
    return ['error', { id, ...err }, [observationLine({ err })]];
  }
}

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
