import { APP_EVENT_LIMITS } from '#libs/component-model/app-event-limits.js';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { isDropped } from '#libs/stream-log/ask.js';
import { appHookInvocation, type Invocation } from '#libs/stream-log/invocations.js';
import { type Refusal } from '#libs/stream-log/refusal.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type Door, refusedAtDoor } from './door.js';

export interface AppEventsDependencies {
  readonly log: Pick<StreamLog, 'publishEach'>;
  readonly topics: TopicPolicy;
  readonly door?: Door;
  readonly clock: Clock;
  /** Each source of the workspace once. */
  readonly matching: (
    workspaceId: string,
    app: string,
    eventName: string,
    accountId?: string,
  ) => readonly { readonly sourceId: string; readonly prop: string }[];
  /** Bytes. */
  readonly maxPayload: number;
  readonly onFailure: (error: unknown) => void;
}

export interface AppEventRequest {
  readonly workspaceId: string;
  readonly app: string;
  readonly eventName: string;
  readonly accountId?: string;
  readonly payload: string;
}

interface Refused {
  readonly sourceId: string;
  readonly code: string;
  readonly message: string;
}

export interface AppEventResult {
  readonly invocations: readonly { readonly id: string; readonly sourceId: string }[];
  readonly refused: readonly Refused[];
}

/** Bytes of one publication, so that an event for many sources does not fill the memory of the log's writer. */
const BATCH_BYTES = 4 * 1024 * 1024;
const BATCH_RECORDS = 200;

/** Publishes an event of an app for each source that accepts it (docs/reference/rest-api.md#app-events). */
export const appEvents = (deps: AppEventsDependencies) => ({
  async send(event: AppEventRequest): Promise<AppEventResult> {
    const { workspaceId, app, eventName, accountId, payload } = event;
    const bytes = Buffer.byteLength(payload);
    if (bytes > deps.maxPayload) throw tooLarge(`payload has ${bytes} bytes`, deps.maxPayload, bytes);
    const sources = deps.matching(workspaceId, app, eventName, accountId);
    checkFanOut(sources.length, bytes);
    const refused: Refused[] = [];
    const invocations: { readonly id: string; readonly sourceId: string }[] = [];
    const perBatch = Math.max(1, Math.min(BATCH_RECORDS, Math.floor(BATCH_BYTES / Math.max(1, bytes))));
    let longest: Refusal | undefined;
    for (let at = 0; at < sources.length; at += perBatch) {
      const records: Invocation[] = [];
      for (const { sourceId, prop } of sources.slice(at, at + perBatch)) {
        // Asked before each batch, because the earlier ones fill the same limit of the workspace.
        const refusal = deps.door?.refusal(sourceId, workspaceId);
        if (refusal === undefined) {
          const call = { sourceId, workspaceId, prop, now: deps.clock.now(), event: payload };
          records.push(appHookInvocation(deps.topics, call));
          continue;
        }
        if (longest === undefined || refusal.retryAfterS > longest.retryAfterS) longest = refusal;
        refused.push({ sourceId, code: refusal.code, message: refusal.text });
      }
      invocations.push(...(await published(records, invocations.length === 0, refused, deps)));
    }
    const [first] = refused;
    if (first !== undefined && longest !== undefined && invocations.length === 0)
      throw refusedAtDoor(longest, `source ${first.sourceId}: ${first.message}`, first.sourceId);
    return { invocations, refused };
  },
});

/** Rejects when the log fails before any source has the event. Later failures are added to `refused`. */
const published = async (
  records: readonly Invocation[],
  first: boolean,
  refused: Refused[],
  { log, door, onFailure }: AppEventsDependencies,
): Promise<AppEventResult['invocations']> => {
  if (records.length === 0) return [];
  const outcomes = await outcomesOf(log, records);
  const failure = outcomes.find((outcome) => outcome instanceof Error);
  if (failure !== undefined) {
    if (first && outcomes.every((outcome) => outcome instanceof Error)) throw failure;
    onFailure(failure);
  }
  return records.flatMap(({ headers: { id, source } }, i) => {
    const outcome = outcomes[i];
    if (outcome instanceof Error) {
      refused.push({ sourceId: source, code: 'unavailable', message: UNSURE });
      return [];
    }
    // A source that was deleted in the meantime no longer gets the event.
    if (isDropped(outcome)) return [];
    door?.stored?.(source);
    return [{ id, sourceId: source }];
  });
};

/** Result of each record. A source whose lane cannot be written does not affect the others. */
const outcomesOf = (
  log: AppEventsDependencies['log'],
  records: readonly Invocation[],
): Promise<readonly (number | null | Error)[]> =>
  new Promise((resolve) => {
    const outcomes: (number | null | Error)[] = Array.from(records, () => null);
    let left = records.length;
    log.publishEach(records, (index, outcome) => {
      outcomes[index] = outcome;
      if (--left === 0) resolve(outcomes);
    });
  });

const UNSURE =
  'the server could not confirm that it stored the event for this source, which may run all the same: to send it again, to this source alone, use POST /v1/sources/{id}/run';

const checkFanOut = (sources: number, bytes: number): void => {
  const { sources: most, totalBytes } = APP_EVENT_LIMITS;
  if (sources > most)
    throw new DomainError(
      'source.too_many_matches',
      `${sources} sources take this event, at most ${most} may get one: name an account_id, or give the sources different event names`,
      { limit: most, actual: sources },
    );
  const total = sources * bytes;
  if (total > totalBytes)
    throw tooLarge(`payload has ${bytes} bytes for each of ${sources} sources, ${total} in all`, totalBytes, total);
};

const tooLarge = (what: string, limit: number, actual: number): DomainError =>
  new DomainError('request.too_large', `${what}, the limit is ${limit}: send less`, {
    field: 'payload',
    limit,
    actual,
  });
