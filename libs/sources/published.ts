/** What other contexts and the roles may know of sources: the events, and the port of its hooks. */
import { type DedupeStrategy } from '../component-model/dedupe-strategy.js';
import { type HookName } from '../component-model/hooks.js';
import { type LogLine, type UserError } from '../component-model/run-output.js';

export interface Endpoint {
  readonly prop: string;
  /** `e` + 15 base-36 characters (decisions.md 1.5). Kept over updates. */
  readonly key: string;
  readonly customResponse: boolean;
}

export interface Timer {
  readonly prop: string;
  readonly cron: string | null;
  readonly intervalSeconds: number | null;
  /** IANA name; null is UTC. */
  readonly timezone: string | null;
}

/**
 * A secret value is `{ secretRef }`; the text is in the vault. Other values as given, normalised by prop type; one that
 * was chosen with its label is `{__lv}` and goes through `boundValue` (domain/bound-value.ts) before a run sees it.
 */
export type ConfiguredValue =
  | { readonly secretRef: string }
  | {
      readonly value: unknown;
      /** The prop wants label and value (decisions.md 2.7). */
      readonly withLabel?: true;
    };

/** All that a run needs. Code and secrets by reference. */
export interface SourceDefinition {
  readonly componentId: string;
  readonly componentKey: string | null;
  readonly bundleHash: string;
  /** User-input props that have a value (given or default). Interface props and db are not in here. */
  readonly values: Readonly<Record<string, ConfiguredValue>>;
  readonly endpoints: readonly Endpoint[];
  readonly timers: readonly Timer[];
  /** Props of type `$.service.db`. */
  readonly dbProps: readonly string[];
  readonly appProps: readonly string[];
  readonly hooks: readonly HookName[];
  readonly dedupe: DedupeStrategy | null;
  readonly emitOnDeploy: boolean;
}

/** One line of what a hook did (decisions.md 1.2): `h` for k "hook", `err` for k "error", else `msg`. */
export interface Observation {
  readonly k: string;
  readonly ts: number;
  readonly h?: HookName;
  readonly msg?: string;
  readonly err?: { readonly name: string; readonly message: string; readonly stack: string };
}

/** The id, endpoints, topics exist and serve from here on; the source is listed only once deployed (decisions.md 2.3). */
export interface SourceDeploymentStarted {
  readonly type: 'SourceDeploymentStarted';
  readonly data: {
    readonly sourceId: string;
    readonly userId: string;
    readonly name: string;
    readonly nameSlug: string;
    readonly definition: SourceDefinition;
    readonly startedAt: number;
  };
}
export interface SourceDeployed {
  readonly type: 'SourceDeployed';
  readonly data: { readonly deployedAt: number };
}
export interface SourceDeploymentFailed {
  readonly type: 'SourceDeploymentFailed';
  readonly data: { readonly reason: string; readonly observations: readonly Observation[]; readonly failedAt: number };
}
export interface SourceUpdateStarted {
  readonly type: 'SourceUpdateStarted';
  readonly data: {
    readonly name: string;
    readonly nameSlug: string;
    readonly active: boolean;
    readonly definition: SourceDefinition;
    readonly startedAt: number;
  };
}
/** What the started update named is in force. */
export interface SourceUpdated {
  readonly type: 'SourceUpdated';
  readonly data: { readonly updatedAt: number };
}
export interface SourceUpdateFailed {
  readonly type: 'SourceUpdateFailed';
  readonly data: { readonly reason: string; readonly observations: readonly Observation[]; readonly failedAt: number };
}
export interface SourceDeletionStarted {
  readonly type: 'SourceDeletionStarted';
  readonly data: { readonly startedAt: number };
}
export interface SourceDeleted {
  readonly type: 'SourceDeleted';
  readonly data: { readonly deletedAt: number };
}
export interface SourceDeletionFailed {
  readonly type: 'SourceDeletionFailed';
  readonly data: { readonly reason: string; readonly observations: readonly Observation[]; readonly failedAt: number };
}

export type SourceEvent =
  | SourceDeploymentStarted
  | SourceDeployed
  | SourceDeploymentFailed
  | SourceUpdateStarted
  | SourceUpdated
  | SourceUpdateFailed
  | SourceDeletionStarted
  | SourceDeleted
  | SourceDeletionFailed;

/**
 * On `nameslug-{workspace}/{slug without its numbers}`: the first step of a deployment and the last of a removal. As
 * long as a slug is held, something of its source may exist outside of the log.
 */
export interface NameSlugReserved {
  readonly type: 'NameSlugReserved';
  readonly data: {
    readonly slug: string;
    readonly sourceId: string;
    /** Vault records about to be written for the source, so that a crash before its first event leaves none. */
    readonly secretRefs: readonly string[];
    readonly reservedAt: number;
  };
}
export interface NameSlugReleased {
  readonly type: 'NameSlugReleased';
  readonly data: { readonly slug: string; readonly sourceId: string; readonly releasedAt: number };
}
export type NameSlugEvent = NameSlugReserved | NameSlugReleased;

export interface HookOutcome {
  readonly status: 'ok' | 'threw' | 'killed';
  readonly error?: UserError;
  readonly logs: readonly LogLine[];
}

/** Implemented by the runner. */
export interface HookRunner {
  /**
   * Runs one hook in the source's sandbox with this definition; emits and db changes are durable when it resolves, also
   * when the hook threw. From `deploy`/`activate` on, invocations of the source run with this definition; `settled` ends that.
   */
  runHook(request: {
    readonly sourceId: string;
    readonly workspaceId: string;
    readonly definition: SourceDefinition;
    readonly hook: HookName;
  }): Promise<HookOutcome>;
  /** The operation is over and its outcome is in the event log: the definition of the log is in force again. */
  operationEnded(sourceId: string): Promise<void>;
}

/** Implemented over the stream log. Both idempotent. */
export interface SourceTopics {
  create(sourceId: string): Promise<void>;
  /** Topics, state, ticks: all that the data plane holds of the source. */
  remove(sourceId: string): Promise<void>;
}
