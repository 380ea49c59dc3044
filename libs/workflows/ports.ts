/** Ports of the workflows context. The composition root provides them under these tokens. */
import { type DomainError } from '#libs/kernel/domain-error.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { type Path } from './domain/findings.js';

/** An `expression` is one expression, whose braces are optional. A `template` is text with expressions in braces. */
export type ExpressionText = readonly [form: 'template' | 'expression', text: string];

type Place = readonly [line: number, column: number];

/** Parsers whose time and memory depend on what a user wrote. They run in a jailed process. */
export interface DefinitionReader {
  /** Makes JSON of YAML of one document. `spoilt`: the process reached its limits. */
  readYaml(text: string): Promise<
    | { readonly kind: 'value'; readonly json: string }
    | {
        readonly kind: 'faults';
        readonly faults: readonly (readonly [
          code: 'syntax' | 'duplicate' | 'range' | 'type' | 'unsupported',
          message: string,
          line: number,
          column: number,
        ])[];
      }
    | { readonly kind: 'too_large' }
    | { readonly kind: 'spoilt'; readonly reason: string }
  >;
  /** Places of 50 values at most in YAML that was read. Empty when the process reached its limits. */
  locate(text: string, paths: readonly Path[]): Promise<readonly Place[]>;
  /** Faults of expressions, by the index of their text, 50 at most. Evaluates nothing. */
  parse(texts: readonly ExpressionText[]): Promise<readonly (readonly [index: number, message: string, at: number])[]>;
}
export const DEFINITION_READER = Symbol('DefinitionReader');

/** What triggers refer to. */
export interface TriggerReferences {
  isSource(id: string, workspaceId: string): boolean;
  isVariable(name: string, workspaceId: string): boolean;
  /** Errors with which a subscription would be refused, with its parameter in `details.field`. */
  emissionFaults(
    emission: { readonly emitterId: string; readonly eventName: string; readonly filter: unknown },
    context: CommandContext,
  ): readonly DomainError[];
}
export const TRIGGER_REFERENCES = Symbol('TriggerReferences');

/** A version without its definition. */
export interface VersionEntry {
  /** `d_…` */
  readonly id: string;
  readonly version: number;
  /** The user that deployed it. */
  readonly userId: string;
  readonly versionHash: string;
  /** Number of the version that it puts in force again. */
  readonly restoredFrom: number | null;
  /** Epoch milliseconds. */
  readonly deployedAt: number;
}

/** Implemented by the view of workflows. */
export interface WorkflowVersions {
  /** Newest first. Empty for a workflow that is unknown or deleted. */
  versions(workflowId: string): readonly VersionEntry[];
}
export const WORKFLOW_VERSIONS = Symbol('WorkflowVersions');

/** Runs of a workflow that are kept, without tests, up to a limit. */
export interface WorkflowRunStats {
  /** Epoch milliseconds of the last arrival. Null for none. */
  readonly lastArrivedAt: number | null;
  readonly runs: number;
  readonly failed: number;
}

/** Implemented by the history of runs. */
export interface WorkflowStats {
  /** Of each workflow, in the given order, with the runs that arrived since a time in epoch milliseconds. */
  of(workflowIds: readonly string[], since: number): Promise<readonly WorkflowRunStats[]>;
}
export const WORKFLOW_STATS = Symbol('WorkflowStats');

/** A subscription whose listener is a workflow. */
export interface HeardEvents {
  readonly id: string;
  readonly emitterId: string;
  readonly eventName: string;
  readonly filter: Readonly<Record<string, unknown>> | null;
  /** Whether it belongs to a trigger. */
  readonly isOwned: boolean;
}

export interface WorkflowSubscriptions {
  /** From a read model, newest first. */
  of(workflowId: string): Promise<readonly HeardEvents[]>;
}
export const WORKFLOW_SUBSCRIPTIONS = Symbol('WorkflowSubscriptions');

/** The schedules of timers, as the scheduler reads them. */
export interface TimerSchedules {
  /** The first tick after `after`, in epoch milliseconds like `since`. Undefined when there is none. */
  next(
    timer: { readonly cron: string | null; readonly intervalSeconds: number | null; readonly timezone: string | null },
    since: number,
    after: number,
  ): number | undefined;
}
export const TIMER_SCHEDULES = Symbol('TimerSchedules');

export const WORKFLOW_TOPICS = Symbol('WorkflowTopics');

export interface EndpointUrls {
  /** Public URL of an endpoint. */
  urlOf(key: string): string;
}
export const ENDPOINT_URLS = Symbol('EndpointUrls');
