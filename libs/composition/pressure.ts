import { DEFAULT_CODE_LIMITS } from '#libs/components/index.js';
import { type Config } from '#libs/config/index.js';
import { type HttpBytes, httpBytes } from '#libs/http/bytes-in-flight.js';
import { type Door } from '#libs/ingress/door.js';
import { PressureGate, type WorkInFlight } from '#libs/ingress/pressure-gate.js';
import { shareOfHeap } from '#libs/kernel/heap-share.js';
import { type Pressure } from '#libs/kernel/process-registry.js';
import { type Metrics } from '#libs/telemetry/index.js';
import { type LoggedBacklog } from './logged-backlog.js';

/** Limits of back-pressure (docs/adr/0006). */
export interface PressureSettings {
  /** Records in flight above which arrivals are held, of one source and of one workspace. */
  readonly source: number;
  readonly workspace: number;
  /** Records in flight above which arrivals of a source are paced. */
  readonly paced: number;
  readonly bytes: number;
  /** Waiting invocations of a source above which its emitters are held. */
  readonly listener: number;
  /** Unrouted emits of one source above which its runs pause, and emits in its loop are given up. */
  readonly unrouted: number;
}

const SOURCE_HERE = 512;
/** Higher with several processes, because each knows the others' backlog with a delay. */
const SOURCE_ON_SERVERS = 4_000;
/**
 * Share of the limit of a source above which its arrivals are paced: at saturation 192 events are in flight instead of 330,
 * which halves the p99 (docs/performance). Not on servers, where these numbers come too late for it.
 */
const PACED_SHARE = 3 / 8;
const WORKSPACE_TIMES = 4;
const LISTENER_TIMES = 4;
const UNROUTED_TIMES = 32;

const HELD_OF_SOURCE = 512;
const HELD = 4_096;
const HELD_MS = 2_000;
const PACED_MS = 50;

/** Largest API request. Code as JSON text takes up to twice its size, because line ends and quotes are escaped. */
export const MAX_API_BODY_BYTES = 2 * DEFAULT_CODE_LIMITS.fileBytes + 256 * 1024;

/** Limits on bodies on their way in and on answers on their way out, of one process. */
export const httpBytesOf = (config: Config): HttpBytes =>
  httpBytes(Math.max(MAX_API_BODY_BYTES, config.maxBodyKb * 1024), config.pageMb * 1024 * 1024);

export const pressureSettings = (config: Config): PressureSettings => {
  const source = config.sourceBacklog ?? (config.engine === 'embedded' ? SOURCE_HERE : SOURCE_ON_SERVERS);
  return {
    source,
    workspace: WORKSPACE_TIMES * source,
    paced: config.engine === 'embedded' ? Math.ceil(PACED_SHARE * source) : source,
    bytes: shareOfHeap(),
    listener: LISTENER_TIMES * source,
    unrouted: UNROUTED_TIMES * source,
  };
};

/** Exports how much of its limit the process holds. */
export const sampleInHand = (metrics: Metrics, read: () => { readonly held: number; readonly limit: number }): void =>
  metrics.sampled(
    'sluice_in_hand_bytes',
    'Bytes of records read for consumers and not yet done, and the most that they may be',
    () => ({ ...read() }),
    'what',
  );

export const pressureGate = (
  backlog: WorkInFlight,
  { source, workspace, paced, bytes }: PressureSettings,
  now: () => number,
): PressureGate => {
  const held = { heldOfSource: HELD_OF_SOURCE, held: HELD, heldMs: HELD_MS, pacedMs: PACED_MS };
  return new PressureGate(backlog, { source, workspace, paced, bytes, ...held }, now);
};

/** Refuses events over the API by the limits of records that an ingress has. */
export const doorOfApi = (backlog: LoggedBacklog, config: Config, now: () => number): Door => {
  const gate = pressureGate(backlog, pressureSettings(config), now);
  return {
    refusal: (sourceId, workspaceId) => gate.tooManyRecords({ sourceId, workspaceId }),
    stored: (sourceId) => backlog.stores(sourceId),
  };
};

/** Least number of records of a source or workspace that is reported to other processes. */
const WORTH_TELLING = 128;
const MOST_TOLD = 200;

const most = (counts: Iterable<readonly [id: string, records: number]>): Record<string, number> => {
  const many = [...counts].filter(([, records]) => records >= WORTH_TELLING);
  if (many.length > MOST_TOLD) many.sort(([, a], [, b]) => b - a).length = MOST_TOLD;
  return Object.fromEntries(many.map(([id, records]) => [id, Math.floor(records)]));
};

/** Counts a process's records by source and workspace. `behind` gives the backlog beyond the records handed over. */
export const pressureOf = (
  counts: {
    readonly bySource: () => Iterable<readonly [string, number]>;
    readonly byWorkspace: () => Iterable<readonly [string, number]>;
    sourcesOf?(workspaceId: string): number;
  },
  behind: (sourceId: string) => number = () => 0,
): Pressure | undefined => {
  const sources = most(withBehind(counts.bySource(), behind));
  const workspaces = most(counts.byWorkspace());
  const ids = Object.keys(workspaces);
  if (Object.keys(sources).length === 0 && ids.length === 0) return undefined;
  if (!counts.sourcesOf) return { sources, workspaces };
  return { sources, workspaces, sourcesOf: Object.fromEntries(ids.map((id) => [id, counts.sourcesOf?.(id) ?? 0])) };
};

/** A source whose records are large has few of them handed over, however many wait. */
function* withBehind(
  counts: Iterable<readonly [id: string, records: number]>,
  behind: (sourceId: string) => number,
): Iterable<readonly [id: string, records: number]> {
  for (const [id, records] of counts) yield [id, Math.max(records, behind(id))];
}
