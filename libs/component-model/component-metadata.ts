import { type DedupeStrategy } from './dedupe-strategy.js';
import { type HookName } from './hooks.js';
import { type Warning } from '#libs/kernel/warning.js';

export interface OptionWithLabel {
  readonly label: string;
  readonly value: unknown;
}

/**
 * One entry of a component's `configurable_props` (docs/reference/component-model.md#prop-entry): plain JSON, shorthand
 * expanded, propDefinition resolved, functions left out. A key that the component did not set is absent.
 */
export interface ConfigurableProp {
  readonly name: string;
  /** `string`, `string[]`, `app`, `$.interface.http`, … (docs/reference/component-model.md#prop-types). */
  readonly type: string;
  readonly label?: string;
  readonly description?: string;
  readonly optional?: boolean;
  /** Any JSON. Replaces a missing value and satisfies "required" (docs/reference/component-model.md#prop-default). */
  readonly default?: unknown;
  readonly options?: readonly (string | number | boolean | OptionWithLabel)[];
  readonly min?: number;
  readonly max?: number;
  readonly secret?: boolean;
  readonly disabled?: boolean;
  readonly hidden?: boolean;
  readonly readOnly?: boolean;
  /** True when `options` is a function (docs/reference/component-model.md#prop-entry). */
  readonly remoteOptions?: boolean;
  readonly useQuery?: boolean;
  readonly reloadProps?: boolean;
  readonly withLabel?: boolean;
  /** Fixed value of a timer, `{intervalSeconds}` or `{cron}`, which overrides the configured one. */
  readonly static?: unknown;
  /** `$.interface.http`: the reply is the one passed to `respond`. */
  readonly customResponse?: boolean;
  /** Slug of the app, for type `app`. */
  readonly app?: string;
  readonly appProp?: string;
  readonly eventNames?: readonly string[];
  readonly remote?: boolean;
  readonly alertType?: string;
  readonly content?: string;
  readonly accessMode?: string;
  readonly sync?: boolean;
}

/** Description of a component, from evaluating its module. */
export interface ComponentMetadata {
  readonly kind: 'source' | 'action' | 'app';
  readonly name: string;
  readonly key: string | null;
  readonly version: string;
  readonly description: string | null;
  readonly annotations: Readonly<Record<string, unknown>> | null;
  readonly dedupe: DedupeStrategy | null;
  /** In the order deploy, activate, deactivate. */
  readonly hooks: readonly HookName[];
  readonly hasRun: boolean;
  readonly hasAdditionalProps: boolean;
  readonly methods: readonly string[];
  readonly configurableProps: readonly ConfigurableProp[];
  /** What is accepted but probably not meant. */
  readonly warnings: readonly Warning[];
}
