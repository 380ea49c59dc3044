/** Published contract of the sources context: its events, and the ports for hooks and topics. */
import { type ConfigurableProp } from '../component-model/component-metadata.js';
import { type DedupeStrategy } from '../component-model/dedupe-strategy.js';
import { type HookName, type ProcessCall } from '../component-model/hooks.js';
import { type LogLine, type UserError } from '../component-model/run-output.js';
import { type DeployableComponent, type PackagesBeside } from '../components/published.js';
import { type CommandContext } from '../kernel/handle-command.js';

export interface Endpoint {
  readonly prop: string;
  /** `e` and 15 base-36 characters, kept over updates. See docs/reference/rest-api.md#endpoint-key. */
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

/** A prop of type `$.interface.apphook` whose app is known. */
export interface AppHook {
  readonly prop: string;
  /** The prop that names the app, and the account. */
  readonly appProp: string;
  /** Slug of the app. */
  readonly app: string;
  /** Null takes every event of the app. */
  readonly eventNames: readonly string[] | null;
}

/**
 * A secret is stored as `{ secretRef }`, and its text is in the vault. Other values are normalised by prop type. A
 * labelled value is `{__lv}` and passes `boundValue` (domain/bound-value.ts) before a run sees it.
 */
export type ConfiguredValue =
  | { readonly secretRef: string }
  | {
      readonly value: unknown;
      /** The prop takes label and value. See docs/reference/component-model.md#prop-label. */
      readonly withLabel?: true;
      /** Vault record with the secret fields of `auth` of an http_request, as JSON. `value` holds masks in their place. */
      readonly authRef?: string;
    };

/** The account that a value of an app prop names. */
export const accountIdOf = (configured: ConfiguredValue | undefined): string | undefined => {
  if (configured === undefined || !('value' in configured)) return undefined;
  const { value } = configured;
  if (typeof value !== 'object' || value === null || !('authProvisionId' in value)) return undefined;
  return typeof value.authProvisionId === 'string' ? value.authProvisionId : undefined;
};

/**
 * Everything that a run needs. Code and secrets are references. SourceDeploymentStarted and SourceUpdateStarted hold it,
 * so stored events lack a field that is added here.
 */
export interface SourceDefinition {
  readonly componentId: string;
  readonly componentKey: string | null;
  readonly bundleHash: string;
  /** npm packages that the bundle requires while it runs. Absent for none. */
  readonly packages?: PackagesBeside;
  /** User-input props with a value, given or default. Excludes interface props and db. */
  readonly values: Readonly<Record<string, ConfiguredValue>>;
  readonly endpoints: readonly Endpoint[];
  readonly timers: readonly Timer[];
  /** Names of props of type `$.service.db`. */
  readonly dbProps: readonly string[];
  readonly appProps: readonly string[];
  /** Props that additionalProps added or changed. Absent when there are none, and in events from before. */
  readonly dynamicProps?: readonly ConfigurableProp[];
  /** Names of props of type `http_request` with a value. Absent when there are none, and in events from before. */
  readonly requestProps?: readonly string[];
  /** Names of props of type `dir`. Absent when there are none, and in events from before. */
  readonly dirProps?: readonly string[];
  /** Props of type data_store, whose values are ids. Absent without one, and in events stored before. */
  readonly storeProps?: readonly string[];
  /** Absent without one, and in events from before apps could send events. */
  readonly apphooks?: readonly AppHook[];
  readonly hooks: readonly HookName[];
  readonly dedupe: DedupeStrategy | null;
  readonly emitOnDeploy: boolean;
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
}

/** What a caller configured for one run of an action. */
export interface ConfiguredAction {
  /** Values by prop, as the caller sent them. */
  readonly props: unknown;
  /** Names what additionalProps returned before (docs/reference/rest-api.md#dynamic-props-id). */
  readonly dynamicPropsId: string | undefined;
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
  /** The operation is over and its outcome is in the event log, so the definition of the log is in force again. */
  operationEnded(sourceId: string): Promise<void>;
}

/** Implemented over the stream log. Both methods are idempotent. */
export interface SourceTopics {
  create(sourceId: string): Promise<void>;
  /** Removes all data-plane data of the source: topics, state, ticks. */
  remove(sourceId: string): Promise<void>;
}
