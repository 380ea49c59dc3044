/** Published contract of the workflows context: its events, and what a run needs of a workflow. */
import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { type Actor } from '#libs/kernel/events.js';
import { type TokenHash } from '#libs/kernel/token-hash.js';
import { type SourceDefinition } from '#libs/sources/published.js';
import { type RetryPolicy } from '#libs/workflow-runs/run-plan.js';

/** Settings of a version, with defaults (docs/reference/workflows.md#settings). */
export interface WorkflowSettings {
  readonly errorNotification: boolean;
  /** Null: 30 seconds, or 60 for runs of a timer. */
  readonly timeoutSeconds: number | null;
  readonly memoryMb: number;
  readonly concurrency: number | null;
  readonly holdSlot: boolean;
  readonly throttle: {
    readonly limit: number;
    readonly interval: number;
    readonly unit: 'second' | 'minute' | 'hour';
  } | null;
  readonly queueSize: number;
  readonly autoRetry: { readonly notifyFirstError: boolean; readonly alsoOn: readonly string[] } | null;
  /** Null: what the server keeps by default. */
  readonly dataRetention: 'none' | { readonly runs: number | null; readonly days: number | null } | null;
  readonly publicSse: boolean;
}

/** A token is stored as a hash, so that ingress needs no vault. The context of variables keeps that of a variable. */
export type BearerAuth = TokenHash | { readonly variable: string };

export interface StaticResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface HttpTrigger {
  readonly kind: 'http';
  /** `hi_…`, derived from workflow and name. */
  readonly id: string;
  readonly name: string;
  /** As of an endpoint of a source. Kept over versions, as long as the name stays. */
  readonly key: string;
  readonly response: 'default' | 'custom' | 'static';
  /** Present with `response: static` only. */
  readonly staticResponse: StaticResponse | null;
  readonly auth: BearerAuth | null;
}

export interface TimerTrigger {
  readonly kind: 'timer';
  /** `ti_…`, derived from workflow and name, so the same over versions. */
  readonly id: string;
  readonly name: string;
  /** Either this or the interval is null. */
  readonly cron: string | null;
  readonly intervalSeconds: number | null;
  /** IANA name; null is UTC. */
  readonly timezone: string | null;
  /** `skip`: no run begins while one of this trigger has not ended. */
  readonly overlap: 'allow' | 'skip';
  /** Epoch milliseconds of the last change of the schedule, from which intervals count. */
  readonly changedAt: number;
}

/** Epoch milliseconds from which a timer ticks. No tick is owed for the time in which its workflow was inactive. */
export const ticksSince = ({ changedAt }: TimerTrigger, switchedAt: number): number => Math.max(changedAt, switchedAt);

/** A workflow can be invoked without such a trigger too. It only has a name. */
export interface CallTrigger {
  readonly kind: 'manual' | 'workflow';
  readonly name: string;
}

/** Offers the workflow to agents, as a tool. */
export interface ToolTrigger {
  readonly kind: 'tool';
  readonly name: string;
  /** Whether the definition gives the name, which is then that of the tool. */
  readonly isNamed: boolean;
  readonly description: string;
  /** JSON Schema of the arguments, of type `object`. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly annotations: Readonly<Record<string, unknown>> | null;
}

/** Events that reach the workflow by a subscription of its own. */
export interface ListeningTrigger {
  readonly kind: 'event' | 'source';
  /** `sub_…`, derived from workflow, kind and name, so the same over versions. */
  readonly subscriptionId: string;
  readonly name: string;
  /** The source belongs to the workflow, which deployed it for this trigger. */
  readonly isOwned?: true;
  /** As of a subscription. A source is its own emitter. */
  readonly emitterId: string;
  /** Name of the channel; empty for the default one. */
  readonly eventName: string;
  /** Null: every event. */
  readonly filter: Readonly<Record<string, unknown>> | null;
}

export type WorkflowTrigger = HttpTrigger | TimerTrigger | CallTrigger | ToolTrigger | ListeningTrigger;

export const isListening = (trigger: WorkflowTrigger): trigger is ListeningTrigger =>
  trigger.kind === 'event' || trigger.kind === 'source';

/** A trigger whose source belongs to the workflow. */
export const ownsSource = (trigger: WorkflowTrigger): trigger is ListeningTrigger =>
  isListening(trigger) && trigger.isOwned === true;

/** What an owner may change without a new version. */
export interface WorkflowFace {
  readonly name: string;
  readonly description: string | null;
  readonly externalId: string | null;
  readonly managedBy: string | null;
  readonly active: boolean;
}

export interface WorkflowCreated {
  readonly type: 'WorkflowCreated';
  readonly data: WorkflowFace & {
    readonly workflowId: string;
    readonly userId: string;
    readonly createdAt: number;
  };
}
export interface WorkflowDeployed {
  readonly type: 'WorkflowDeployed';
  readonly data: {
    readonly deploymentId: string;
    readonly version: number;
    readonly userId: string;
    readonly settings: WorkflowSettings;
    readonly triggers: readonly WorkflowTrigger[];
    /** Blob with the definition and its pins, as JSON of StoredVersion. No other version has the same. */
    readonly versionHash: string;
    /** Vault records that this version uses. */
    readonly secretRefs: readonly string[];
    /** Number of the version that this one puts in force again. */
    readonly restoredFrom?: number;
    readonly deployedAt: number;
  };
}
export interface WorkflowChanged {
  readonly type: 'WorkflowChanged';
  /** `cancelsRuns`: every unfinished run that arrived before is cancelled. */
  readonly data: WorkflowFace & { readonly cancelsRuns?: true; readonly changedAt: number };
}
/** A version that is not deployed, for test runs. Any deployment discards it (docs/adr/0078). */
export interface WorkflowDraft {
  /** `d_…`. No version gets it. */
  readonly draftId: string;
  readonly settings: WorkflowSettings;
  /** A source that the workflow would own and does not have yet has no id. */
  readonly triggers: readonly WorkflowTrigger[];
  /** Blob as of a version. No other draft has the same. */
  readonly versionHash: string;
  /** Vault records that it uses. Versions may use them too. */
  readonly secretRefs: readonly string[];
  /** What its deployment changes besides. */
  readonly face: Partial<WorkflowFace>;
  readonly savedAt: number;
}
/** Replaces the draft before it. */
export interface WorkflowDraftSaved {
  readonly type: 'WorkflowDraftSaved';
  readonly data: WorkflowDraft;
}
/** Comes right after the deployment that discards it. */
export interface WorkflowDraftDiscarded {
  readonly type: 'WorkflowDraftDiscarded';
  readonly data: { readonly draftId: string; readonly discardedAt: number };
}
export interface WorkflowDeleted {
  readonly type: 'WorkflowDeleted';
  readonly data: { readonly deletedAt: number };
}
export type WorkflowEvent =
  WorkflowCreated | WorkflowDeployed | WorkflowDraftSaved | WorkflowDraftDiscarded | WorkflowChanged | WorkflowDeleted;

/** The stream is that of the external id in its workspace. */
export interface WorkflowExternalIdReserved {
  readonly type: 'WorkflowExternalIdReserved';
  readonly data: { readonly externalId: string; readonly workflowId: string; readonly reservedAt: number };
}
export interface WorkflowExternalIdReleased {
  readonly type: 'WorkflowExternalIdReleased';
  readonly data: { readonly externalId: string; readonly workflowId: string; readonly releasedAt: number };
}
export type WorkflowExternalIdEvent = WorkflowExternalIdReserved | WorkflowExternalIdReleased;

/**
 * The key pair that signs the tokens of run URLs (docs/adr/0075). The private key is in the vault. The role `ingress`
 * checks tokens with the public one.
 */
export interface RunUrlKeyCreated {
  readonly type: 'RunUrlKeyCreated';
  readonly data: {
    readonly secretRef: string;
    /** SPKI, DER in base64. */
    readonly publicKey: string;
    readonly createdAt: number;
  };
}

/** The type of a prop, for the conversion of what an expression returns. */
export type PropType = Pick<ConfigurableProp, 'name' | 'type' | 'optional' | 'default'>;

export interface DeployedStep {
  readonly namespace: string;
  /** `c_…`, derived from workflow and namespace, so the same over versions. */
  readonly id: string;
  readonly name: string | null;
  readonly disabled: boolean;
  /** An expression, with or without braces. */
  readonly if: string | null;
  /** Of a step with `for_each`: an expression, with or without braces, and how many items execute at once. */
  readonly loop?: { readonly list: string; readonly concurrency: number };
  readonly retry: RetryPolicy | null;
  readonly timeoutSeconds: number | null;
  /** `stop`, `continue`, or the namespace of a later step. */
  readonly onError: string;
  /** A code step gets the variables of the workspace, and shares a process with the others of its workflow. */
  readonly kind: 'code' | 'action';
  /** How the component runs. Its props are the literal ones. */
  readonly definition: SourceDefinition;
  /** Values that hold expressions, by prop. */
  readonly open: Readonly<Record<string, unknown>>;
  readonly propTypes: readonly PropType[];
}

/** Everything that a run needs of the version that it is pinned to. */
export interface DeployedVersion {
  readonly workflowId: string;
  /** Null for a draft. */
  readonly deploymentId: string | null;
  readonly version: number | null;
  readonly settings: WorkflowSettings;
  readonly steps: readonly DeployedStep[];
}

export interface RunnableWorkflow {
  readonly id: string;
  readonly workspaceId: string;
  readonly userId: string;
  readonly name: string;
  readonly active: boolean;
  /** Null before the first deployment. */
  readonly deploymentId: string | null;
  readonly version: number | null;
  readonly draft: { readonly id: string; readonly settings: WorkflowSettings } | null;
  readonly settings: WorkflowSettings;
}

/** Implemented by the view of workflows and the blobs. */
export interface RunnableWorkflows {
  /** Undefined for a workflow that is unknown or deleted. */
  find(workflowId: string): RunnableWorkflow | undefined;
  idOfExternal(externalId: string, workspaceId: string): string | undefined;
  /** A version or the draft. Undefined when the workflow is unknown or deleted, or does not have it. */
  version(workflowId: string, deploymentId: string): Promise<DeployedVersion | undefined>;
}

/** A tool that an active workflow offers. */
export interface WorkflowTool {
  readonly workflowId: string;
  readonly workflowName: string;
  /** Epoch milliseconds of the workflow. */
  readonly createdAt: number;
  readonly trigger: ToolTrigger;
}

/** Implemented by the view of workflows. */
export interface WorkflowTools {
  tools(workspaceId: string): Iterable<WorkflowTool>;
}

export interface WorkflowEndpoint {
  readonly workflowId: string;
  readonly workspaceId: string;
  readonly triggerId: string;
  readonly triggerName: string;
  readonly response: HttpTrigger['response'];
  readonly staticResponse: StaticResponse | null;
  readonly auth: BearerAuth | null;
}

/** The topics of workflows, with what is stored beside them for runs that have not ended. All calls are idempotent. */
export interface WorkflowTopics {
  /** Resolves when the topics take records. */
  create(workflowId: string): Promise<void>;
  remove(workflowId: string): Promise<void>;
  /** Cancels every unfinished run that arrived before. Resolves once the request is durable. `cause`: the same on a repeat. */
  cancelRuns(request: {
    readonly workflowId: string;
    readonly workspaceId: string;
    readonly by: Actor;
    readonly cause: string;
    /** Epoch milliseconds. */
    readonly now: number;
  }): Promise<void>;
}
