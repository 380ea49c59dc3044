import { shareOfHeap } from '#libs/kernel/heap-share.js';
import { type Door } from './door.js';
import { type LoggedBacklog } from './logged-backlog.js';
import { PressureGate, type WorkInFlight } from './pressure-gate.js';

/** Settings of the operator. */
interface PressureConfig {
  readonly sourceBacklog: number | null;
  readonly engine: 'embedded' | 'distributed';
}

/** Limits of back-pressure (docs/adr/0006). */
export interface PressureSettings {
  /** Records in flight above which arrivals are held, of one source and of one workspace. */
  readonly source: number;
  readonly workspace: number;
  /** Records in flight above which arrivals of a source are paced. */
  readonly paced: number;
  readonly bytes: number;
  /** Waiting invocations of a source above which its emitters wait. */
  readonly listener: number;
  /** Unrouted emits of one source above which its runs pause, and emits in its loop are dropped. */
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

export const pressureSettings = ({ sourceBacklog, engine }: PressureConfig): PressureSettings => {
  const source = sourceBacklog ?? (engine === 'embedded' ? SOURCE_HERE : SOURCE_ON_SERVERS);
  return {
    source,
    workspace: WORKSPACE_TIMES * source,
    paced: engine === 'embedded' ? Math.ceil(PACED_SHARE * source) : source,
    bytes: shareOfHeap(),
    listener: LISTENER_TIMES * source,
    unrouted: UNROUTED_TIMES * source,
  };
};

export const pressureGate = (
  backlog: WorkInFlight,
  { source, workspace, paced, bytes }: PressureSettings,
  now: () => number,
): PressureGate => {
  const held = { heldOfSource: HELD_OF_SOURCE, held: HELD, heldMs: HELD_MS, pacedMs: PACED_MS };
  return new PressureGate(backlog, { source, workspace, paced, bytes, ...held }, now);
};

/** Refuses events over the API by the limits of records that an ingress has. */
export const doorOfApi = (backlog: LoggedBacklog, config: PressureConfig, now: () => number): Door => {
  const gate = pressureGate(backlog, pressureSettings(config), now);
  return {
    refusal: (sourceId, workspaceId) => gate.tooManyRecords({ sourceId, workspaceId }),
    stored: (sourceId) => backlog.stores(sourceId),
  };
};
