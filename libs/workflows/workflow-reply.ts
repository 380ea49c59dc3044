import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import {
  anyJson,
  boolean,
  integer,
  listOf,
  named,
  nullable,
  object,
  optional,
  record,
  revisionField,
  seconds,
  text,
  type TypeOf,
} from '#libs/http/reply-schema.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { epochSeconds } from '#libs/kernel/clock.js';
import { type JsonObject } from './domain/check-shape.js';
import { objectIn, stepsOf, textIn } from './domain/definition-rules.js';
import { settingsOf } from './domain/settings.js';
import { type StoredVersion } from './domain/stored-version.js';
import { NO_SOURCE, shownToken } from './domain/triggers.js';
import { type WorkflowRecord } from './domain/workflow.js';
import { type HeardEvents, type VersionEntry, type WorkflowRunStats } from './ports.js';
import {
  type DeployedStep,
  type TimerTrigger,
  type WorkflowFace,
  type WorkflowSettings,
  type WorkflowTrigger,
} from './published.js';

const COMMON = {
  id: text('`p_…`'),
  name: text('Name for people'),
  description: nullable(text('What the workflow does')),
  external_id: nullable(text('Unique in the workspace')),
  managed_by: nullable(text('The program that keeps the workflow')),
  owner_id: text('The workspace'),
  user_id: text('`u_…`, the creator'),
  active: boolean('Whether the triggers start runs'),
  version: nullable(integer('Number of the deployed version')),
  deployment_id: nullable(text('`d_…`')),
  has_draft: boolean('Whether a draft is saved'),
  settings: record('With defaults'),
  revision: revisionField(),
  created_at: seconds(),
  updated_at: seconds(),
  deployed_at: nullable(seconds('Epoch seconds of the deployed version')),
};

/** As in docs/reference/workflows.md#workflow-fields. */
export const ListedWorkflow = named('ListedWorkflow', {
  ...COMMON,
  trigger_types: listOf(text(), 'In the order of the triggers'),
  stats: optional(
    object(
      {
        last_run_at: nullable(seconds('Epoch seconds of the arrival of the last run')),
        runs_24h: integer('Runs of the last 24 hours; 10,000 stands for more'),
        failed_24h: integer('Those of them that failed'),
      },
      'With `include_stats=true`',
    ),
  ),
});

export const Workflow = named('Workflow', {
  ...COMMON,
  triggers: listOf(record(), 'With ids, and URLs of endpoints; tokens are masked'),
  steps: listOf(record(), 'With the components that they are pinned to'),
  subscriptions: listOf(record(), 'Those whose listener is the workflow'),
  definition: record('What `PUT` takes; secrets are masked'),
});

const VERSION = {
  version: integer('From 1'),
  deployment_id: text('`d_…`'),
  created_at: seconds(),
  user_id: text('`u_…`, the user that deployed it'),
  restored_from: nullable(integer('The version that it puts in force again; null for any other deployment')),
};

/** As in docs/reference/workflows.md#version-fields. */
export const ListedVersion = named('ListedWorkflowVersion', VERSION);

export const WholeVersion = named('WorkflowVersion', {
  ...VERSION,
  definition: record('What `PUT` takes; secrets are masked'),
});

/** As in docs/reference/workflows.md#version-diff. */
export const VersionDiff = named('WorkflowVersionDiff', {
  from: nullable(integer('Number of the other version; null for the empty definition')),
  to: integer('Number of the version'),
  changes: listOf(
    object({
      path: text('JSON pointer into the definition'),
      before: optional(anyJson('Absent from what was added')),
      after: optional(anyJson('Absent from what was removed')),
    }),
    'In the order of the definition',
  ),
  text: nullable(text('Unified diff of the definitions as YAML; empty when they are equal')),
});

export type VersionDiffReply = TypeOf<typeof VersionDiff>;
export type ListedVersionReply = TypeOf<typeof ListedVersion>;
export type WholeVersionReply = TypeOf<typeof WholeVersion>;

export const listedVersionReply = ({
  id,
  version,
  userId,
  restoredFrom,
  deployedAt,
}: VersionEntry): ListedVersionReply => ({
  version,
  deployment_id: id,
  created_at: epochSeconds(deployedAt),
  user_id: userId,
  restored_from: restoredFrom,
});

export type ListedWorkflowReply = TypeOf<typeof ListedWorkflow>;
export type WorkflowReply = TypeOf<typeof Workflow>;

export interface ShownWorkflow {
  readonly workflow: WorkflowRecord;
  readonly revision: number;
  readonly workspaceId: string;
}

/** The version in force, or the draft. */
export interface ShownVersion {
  readonly settings: WorkflowSettings;
  readonly triggers: readonly WorkflowTrigger[];
  readonly stored: StoredVersion;
  readonly face: Pick<WorkflowFace, 'name' | 'description' | 'externalId'>;
}

const DEFAULTS = settingsOf({});

const common = ({ workflow, revision, workspaceId }: ShownWorkflow, settings: WorkflowSettings) => {
  const { deployed } = workflow;
  return {
    id: workflow.workflowId,
    name: workflow.name,
    description: workflow.description,
    external_id: workflow.externalId,
    managed_by: workflow.managedBy,
    owner_id: workspaceId,
    user_id: workflow.userId,
    active: workflow.active,
    version: deployed?.version ?? null,
    deployment_id: deployed?.deploymentId ?? null,
    has_draft: workflow.draft !== null,
    settings: shownSettings(settings, workflow.active),
    revision,
    created_at: epochSeconds(workflow.createdAt),
    updated_at: epochSeconds(workflow.updatedAt),
    deployed_at: deployed === null ? null : epochSeconds(deployed.deployedAt),
  };
};

export const listedWorkflowReply = (shown: ShownWorkflow, stats?: WorkflowRunStats): ListedWorkflowReply => ({
  ...common(shown, shown.workflow.deployed?.settings ?? DEFAULTS),
  trigger_types: (shown.workflow.deployed?.triggers ?? []).map(({ kind }) => kind),
  ...(stats === undefined ? {} : { stats: statsReply(stats) }),
});

const statsReply = ({ lastArrivedAt, runs, failed }: WorkflowRunStats): NonNullable<ListedWorkflowReply['stats']> => ({
  last_run_at: lastArrivedAt === null ? null : epochSeconds(lastArrivedAt),
  runs_24h: runs,
  failed_24h: failed,
});

/** What a trigger shows beside its definition. */
export interface TriggerFacts {
  /** Its fields, empty for one that is gone. */
  readonly sourceOf: (id: string) => Readonly<Record<string, unknown>>;
  readonly urlOf: (key: string) => string;
  /** Epoch milliseconds. Undefined for a timer that does not tick. */
  readonly nextTickOf: (trigger: TimerTrigger) => number | undefined;
}

const NOTHING: StoredVersion = {
  deployed: { workflowId: '', deploymentId: null, version: null, settings: DEFAULTS, steps: [] },
  definition: { steps: [] },
  components: [],
  sources: [],
};

/** @param stored that of the version in force, or of the draft; undefined for a workflow that was never deployed */
export const shownVersion = (workflow: WorkflowRecord, stored = NOTHING, isDraft = false): ShownVersion => {
  const of = isDraft ? workflow.draft : workflow.deployed;
  const face = isDraft ? { ...workflow, ...workflow.draft?.face } : workflow;
  return { settings: of?.settings ?? DEFAULTS, triggers: of?.triggers ?? [], stored, face };
};

/** @param codes code of the components, by hash */
export const workflowReply = (
  shown: ShownWorkflow,
  { settings, triggers, stored, face }: ShownVersion,
  heard: readonly HeardEvents[],
  codes: ReadonlyMap<string, string>,
  facts: TriggerFacts,
): WorkflowReply => ({
  ...common(shown, settings),
  triggers: triggers.map((trigger) => shownTrigger(trigger, facts)),
  steps: stepsOf(stored.definition).flatMap(([i, step]) => shownStep(step, i, stored, codes)),
  subscriptions: heard.map(({ id, emitterId: emitter_id, eventName: event_name, filter }) => ({
    id,
    emitter_id,
    event_name,
    filter,
  })),
  definition: shownDefinition(face, stored.definition),
});

/** A definition as `PUT` takes it, with what is no part of a version. */
export const shownDefinition = (
  { name, description, externalId }: Pick<WorkflowRecord, 'name' | 'description' | 'externalId'>,
  { schema, ...rest }: JsonObject,
): JsonObject => ({
  ...(schema === undefined ? {} : { schema }),
  name,
  ...(description === null ? {} : { description }),
  ...(externalId === null ? {} : { external_id: externalId }),
  ...rest,
});

const shownSettings = (settings: WorkflowSettings, active: boolean): Readonly<Record<string, unknown>> => ({
  active,
  error_notification: settings.errorNotification,
  timeout_seconds: settings.timeoutSeconds,
  memory_mb: settings.memoryMb,
  concurrency: settings.concurrency,
  hold_slot: settings.holdSlot,
  throttle: settings.throttle,
  queue_size: settings.queueSize,
  auto_retry:
    settings.autoRetry === null
      ? false
      : { notify_first_error: settings.autoRetry.notifyFirstError, also_on: settings.autoRetry.alsoOn },
  data_retention: settings.dataRetention,
  public_sse: settings.publicSse,
});

const shownTrigger = (
  trigger: WorkflowTrigger,
  { sourceOf, urlOf, nextTickOf }: TriggerFacts,
): Readonly<Record<string, unknown>> => {
  switch (trigger.kind) {
    case 'http':
      return {
        type: trigger.kind,
        name: trigger.name,
        id: trigger.id,
        key: trigger.key,
        endpoint_url: urlOf(trigger.key),
        custom_response: trigger.response === 'custom',
        response: trigger.response,
        ...(trigger.staticResponse === null ? {} : { static_response: trigger.staticResponse }),
        auth: trigger.auth === null ? { type: 'none' } : { type: 'bearer', token: shownToken(trigger.auth) },
      };
    case 'event': {
      const { kind: type, name, subscriptionId: id, emitterId: emitter_id, eventName: event_name, filter } = trigger;
      return { type, name, id, emitter_id, event_name, filter };
    }
    case 'source': {
      const { kind: type, name, emitterId: id, eventName: event_name } = trigger;
      // The name is that of the trigger.
      return { ...sourceOf(id), type, name, id: id === NO_SOURCE ? null : id, event_name };
    }
    case 'timer':
      return {
        type: trigger.kind,
        name: trigger.name,
        id: trigger.id,
        interval_seconds: trigger.intervalSeconds,
        cron: trigger.cron,
        timezone: trigger.timezone ?? 'UTC',
        overlap: trigger.overlap,
        next_tick_ms: nextTickOf(trigger) ?? null,
        schedule_changed_at: epochSeconds(trigger.changedAt),
      };
    case 'tool': {
      const { kind: type, name, description, input, annotations } = trigger;
      return { type, name, id: null, description, input, annotations };
    }
    case 'manual':
    case 'workflow':
      return { type: trigger.kind, name: trigger.name, id: null };
  }
};

const shownStep = (
  step: JsonObject,
  at: number,
  { deployed, components }: StoredVersion,
  codes: ReadonlyMap<string, string>,
): readonly Readonly<Record<string, unknown>>[] => {
  const of = deployed.steps[at];
  const component = components[at];
  if (!of || !component) return [];
  const { codeHash } = component;
  return [
    {
      id: of.id,
      type: 'CodeCell',
      namespace: of.namespace,
      lang: 'nodejs20.x',
      component: true,
      savedComponent: {
        id: component.id,
        code: codes.get(codeHash) ?? null,
        codeHash,
        configurableProps: component.configurableProps,
        key: component.key,
        description: component.description,
        version: component.version,
        apps: appsOf(component.configurableProps),
      },
      component_key: component.key,
      configured_props_json: JSON.stringify(objectIn(step, 'props')),
      ...keysOf(of, step),
    },
  ];
};

/** The keys of a step in a definition, with defaults. */
const keysOf = (of: DeployedStep, step: JsonObject): Readonly<Record<string, unknown>> => ({
  name: of.name,
  runtime: textIn(step, 'runtime') ?? null,
  ...(step['code'] === undefined ? { uses: step['uses'] } : { code: step['code'] }),
  props: objectIn(step, 'props'),
  disabled: of.disabled,
  if: of.if,
  for_each: of.loop?.list ?? null,
  concurrency: of.loop?.concurrency ?? 1,
  retry:
    of.retry === null
      ? null
      : {
          max_retries: of.retry.maxRetries,
          delay_seconds: of.retry.delaySeconds,
          backoff: of.retry.backoff,
          also_on: of.retry.alsoOn,
        },
  timeout_seconds: of.timeoutSeconds,
  on_error: of.onError,
});

const appsOf = (props: readonly ConfigurableProp[]): readonly string[] => [
  ...new Set(props.flatMap(({ type, app }) => (type === 'app' && app !== undefined ? [app] : []))),
];

/** Bytes of code that one reply holds. Code beyond is null. */
const MAX_CODE_BYTES = 5 * 1024 * 1024;

export const codesOf = async (
  { components }: StoredVersion,
  blobs: Pick<BlobStore, 'get'>,
): Promise<ReadonlyMap<string, string>> => {
  const codes = new Map<string, string>();
  let left = MAX_CODE_BYTES;
  for (const { codeHash } of components) {
    if (codes.has(codeHash) || left <= 0) continue;
    const code = await blobs.get(codeHash);
    if (code === undefined) continue;
    left -= Buffer.byteLength(code);
    if (left >= 0) codes.set(codeHash, code);
  }
  return codes;
};
