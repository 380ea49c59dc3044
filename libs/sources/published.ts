/** Published contract of the sources context: its events, and the ports for hooks and topics. */
import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { type DedupeStrategy } from '#libs/component-model/dedupe-strategy.js';
import { type HookName, type ProcessCall } from '#libs/component-model/hooks.js';
import { type LogLine, type ToldEmit, type UserError } from '#libs/component-model/run-output.js';
import { type DeployableComponent, type PackagesBeside } from '#libs/components/published.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { type Warning } from '#libs/kernel/warning.js';
import { type SourceOwner } from './ownership.js';

export { SECRET_MASK } from './domain/secret-mask.js';
export {
  OWNED_SOURCES,
  type OwnedSource,
  type OwnedSources,
  type OwnedSourcesChange,
  type PlannedSource,
  type SourceOwner,
  type WantedSource,
} from './ownership.js';

/** A prop that holds a value, normalised by its type. A labelled value is `{__lv}` (domain/bound-value.ts). */
export interface ValueProp {
  readonly kind: 'value';
  readonly prop: string;
  readonly value: unknown;
  /** The prop takes label and value. See docs/reference/component-model.md#prop-label. */
  readonly withLabel?: true;
}

/** The text of a secret is in the vault. */
export interface SecretProp {
  readonly kind: 'secret';
  readonly prop: string;
  readonly secretRef: string;
}

/** A prop of type `http_request`. */
export interface RequestProp {
  readonly kind: 'request';
  readonly prop: string;
  /** A request with masks in the place of the secret fields of its `auth`. */
  readonly value: unknown;
  /** Vault record with these fields, as JSON. Absent when there are none. */
  readonly secretRef?: string;
}

/** A prop of type `data_store`. The value is the id of the data store once the definition is in force. */
export interface StoreProp {
  readonly kind: 'store';
  readonly prop: string;
  readonly value: unknown;
}

/** A prop of type `app`, without a value when it names no account. */
export interface AppProp {
  readonly kind: 'app';
  readonly prop: string;
  readonly value?: unknown;
}

export interface Endpoint {
  readonly kind: 'http';
  readonly prop: string;
  /** `e` and 15 base-36 characters, kept over updates. See docs/reference/rest-api.md#endpoint-key. */
  readonly key: string;
  readonly customResponse: boolean;
}

export interface Timer {
  readonly kind: 'timer';
  readonly prop: string;
  readonly cron: string | null;
  readonly intervalSeconds: number | null;
  /** IANA name; null is UTC. */
  readonly timezone: string | null;
}

/** A prop of type `$.interface.apphook` whose app is known. */
export interface AppHook {
  readonly kind: 'apphook';
  readonly prop: string;
  /** The prop that names the app, and the account. */
  readonly appProp: string;
  /** Slug of the app. */
  readonly app: string;
  /** Null accepts every event of the app. */
  readonly eventNames: readonly string[] | null;
}

/** Props of type `$.service.db` and `dir`, which nothing configures. */
export interface BareProp {
  readonly kind: 'db' | 'dir';
  readonly prop: string;
}

/** A prop after a deployment. Its kind decides what replies show, what a run receives and what is secret. */
export type PlannedProp =
  ValueProp | SecretProp | RequestProp | StoreProp | AppProp | Endpoint | Timer | AppHook | BareProp;

type PropOf<K extends PlannedProp['kind']> = PlannedProp & { readonly kind: K };

/** The props of one kind, in declaration order. */
export const propsOf = <K extends PlannedProp['kind']>(
  { props }: Pick<SourceDefinition, 'props'>,
  kind: K,
): readonly PropOf<K>[] => props.filter((planned): planned is PropOf<K> => planned.kind === kind);

/** The account that a value of an app prop names. */
export const accountIdOf = (value: unknown): string | undefined => {
  if (typeof value !== 'object' || value === null || !('authProvisionId' in value)) return undefined;
  return typeof value.authProvisionId === 'string' ? value.authProvisionId : undefined;
};

/**
 * Everything that a run needs. Code and secrets are references. SourceDeploymentStarted and SourceUpdateStarted hold it.
 */
export interface SourceDefinition {
  readonly componentId: string;
  readonly componentKey: string | null;
  readonly bundleHash: string;
  /** npm packages that the bundle requires while it runs. Absent for none. */
  readonly packages?: PackagesBeside;
  /** In declaration order, without those that lack a value and may. */
  readonly props: readonly PlannedProp[];
  /** Props that additionalProps added or changed. Absent when there are none. */
  readonly dynamicProps?: readonly ConfigurableProp[];
  readonly hooks: readonly HookName[];
  readonly dedupe: DedupeStrategy | null;
  readonly emitOnDeploy: boolean;
}

/** How a manual run ended. */
export interface RunEnd {
  readonly status: 'ok' | 'threw' | 'killed';
  readonly ms: number;
  /** The first emits. */
  readonly emits: readonly ToldEmit[];
}

/** Has `h` for k "hook", `err` for k "error", else `msg`. See docs/reference/errors.md#hook-observations. */
export interface Observation {
  readonly k: string;
  readonly ts: number;
  readonly h?: HookName;
  readonly msg?: string;
  /** The parts of an error are absent in observations stored before. */
  readonly err?: Pick<UserError, 'name' | 'message' | 'stack' | 'cause' | 'errors'>;
}

/**
 * An operation of an owned source is part of a change of its workflow. Once the workflow's stream has an event with this
 * command id, the operation has to be finished, and before that it can be undone (docs/adr/0074).
 */
interface OfWorkflowChange {
  readonly workflowChange?: string;
}

/**
 * From here on the id and the topics exist and the endpoints serve. The source is listed only once it is deployed. See
 * docs/reference/rest-api.md#source-deploy-listing.
 */
export interface SourceDeploymentStarted {
  readonly type: 'SourceDeploymentStarted';
  readonly data: {
    readonly sourceId: string;
    readonly userId: string;
    readonly name: string;
    readonly nameSlug: string;
    readonly definition: SourceDefinition;
    /** Absent: the source is active. */
    readonly active?: false;
    /** Absent for a source that belongs to no workflow. */
    readonly owner?: SourceOwner;
    readonly startedAt: number;
  } & OfWorkflowChange;
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
  } & OfWorkflowChange;
}
/** The definition of the started update is in force. */
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
  readonly data: { readonly startedAt: number } & OfWorkflowChange;
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
 * First step of a deployment; its release is the last step of a removal. While a slug is held, data of its source may
 * exist outside the log. The stream is `nameslug-{workspace}/{slug without its numbers}`.
 */
export interface NameSlugReserved {
  readonly type: 'NameSlugReserved';
  readonly data: {
    readonly slug: string;
    readonly sourceId: string;
    /** Vault records that the deployment will write, so that a crash before its first event leaves none. */
    readonly secretRefs: readonly string[];
    readonly reservedAt: number;
  };
}
export interface NameSlugReleased {
  readonly type: 'NameSlugReleased';
  readonly data: { readonly slug: string; readonly sourceId: string; readonly releasedAt: number };
}
export type NameSlugEvent = NameSlugReserved | NameSlugReleased;

/** Token under which SourcesModule provides its ActionPlans. */
export const ACTION_PLANS = Symbol('ActionPlans');

/** Props of one run of an action. */
export interface PlannedAction {
  readonly definition: SourceDefinition;
  /** Texts of the secrets that the definition refers to. They are kept for the run only. */
  readonly secrets: readonly { readonly ref: string; readonly text: string }[];
  readonly warnings: readonly Warning[];
}

/** What a caller configured for one run of an action. */
export interface ConfiguredAction {
  /** Values by prop, as the caller sent them. */
  readonly props: unknown;
  /** Id of an earlier result of additionalProps (docs/reference/rest-api.md#dynamic-props-id). */
  readonly dynamicPropsId: string | undefined;
  /** Props of an earlier plan, whose masked secrets are kept. */
  readonly stored?: readonly PlannedProp[] | undefined;
  /** Props whose values are made only when the action runs. They are not planned. */
  readonly open?: ReadonlySet<string>;
}

/** Implemented by the sources context, because actions and sources have the same rules of props. */
export interface ActionPlans {
  /**
   * Checks the configured props of an action (docs/reference/component-model.md#action-props), and creates data stores
   * of unused names. Calls additionalProps for a component that has it. Rejects with source.invalid_prop,
   * source.missing_prop, request.invalid_parameter, component.additional_props_failed or
   * component.dynamic_props_not_found.
   */
  plan(
    component: DeployableComponent,
    configured: ConfiguredAction,
    now: number,
    context: CommandContext,
  ): Promise<PlannedAction>;
}

/** Token under which SourcesModule provides its PropChecks. */
export const PROP_CHECKS = Symbol('PropChecks');

export interface PropFault {
  /** Absent when the values are wrong together. */
  readonly prop?: string;
  readonly kind: 'missing' | 'type' | 'range' | 'unknown_account';
  readonly message: string;
}

/** Implemented by the sources context. Checks values before anything is deployed or run with them. */
export interface PropChecks {
  /**
   * Finds all wrong props, up to 50. Changes nothing, and calls no additionalProps.
   * @param stored props of an earlier plan, whose masked secrets are kept
   */
  check(
    props: readonly ConfigurableProp[],
    given: Readonly<Record<string, unknown>>,
    workspaceId: string,
    stored?: readonly PlannedProp[],
  ): { readonly faults: readonly PropFault[]; readonly warnings: readonly Warning[] };
}

/** Token under which SourcesModule provides its SourceRecords. */
export const SOURCE_RECORDS = Symbol('SourceRecords');

/** Implemented by the sources context. */
export interface SourceRecords {
  /** The fields of sources of this workspace by id, as replies show them. Leaves out what is not there. */
  of(
    sourceIds: readonly string[],
    workspaceId: string,
    from: 'log' | 'read_model',
  ): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>>;
}

export interface HookOutcome {
  readonly status: 'ok' | 'threw' | 'killed';
  readonly error?: UserError;
  readonly logs: readonly LogLine[];
}

/** Implemented by the runner. */
export interface HookRunner {
  /**
   * Runs one hook in the source's sandbox with this definition. Emits and db changes are durable when it resolves, even
   * when the hook threw. From `deploy` or `activate` on, invocations run with this definition until `operationEnded`.
   * `sample_emit` changes no definition; its error has the code NoSampleEmit when the component exports no sample.
   */
  runHook(request: {
    readonly sourceId: string;
    readonly workspaceId: string;
    readonly definition: SourceDefinition;
    readonly hook: ProcessCall;
  }): Promise<HookOutcome>;
  /**
   * Called when the operation is over and its outcome is in the event log, so that the definition of the log is in
   * force again.
   */
  operationEnded(sourceId: string): Promise<void>;
}

/** Implemented over the stream log. Both methods are idempotent. */
export interface SourceTopics {
  create(sourceId: string): Promise<void>;
  /** Removes all data-plane data of the source: topics, state, ticks. */
  remove(sourceId: string): Promise<void>;
}
