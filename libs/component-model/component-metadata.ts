import { type DedupeStrategy } from './dedupe-strategy.js';
import { type HookName } from './hooks.js';

export interface OptionWithLabel {
  readonly label: string;
  readonly value: unknown;
}

/**
 * One entry of a component's `configurable_props` (decisions.md 1.4): plain JSON, in declaration order, shorthand
 * expanded, propDefinition resolved, functions left out. A key that the component did not set is absent.
 */
export interface ConfigurableProp {
  readonly name: string;
  /** `string`, `string[]`, `app`, `$.interface.http`, … (decisions.md 2.2). */
  readonly type: string;
  readonly label?: string;
  readonly description?: string;
  readonly optional?: boolean;
  /** Any JSON; it pre-fills a missing value and satisfies "required" (decisions.md 2.1). */
  readonly default?: unknown;
  readonly options?: readonly (string | number | boolean | OptionWithLabel)[];
  readonly min?: number;
  readonly max?: number;
  readonly secret?: boolean;
  readonly disabled?: boolean;
  readonly hidden?: boolean;
  readonly readOnly?: boolean;
  /** The options are a function, to be asked for page by page (decisions.md 2.7). */
  readonly remoteOptions?: boolean;
  readonly useQuery?: boolean;
  readonly reloadProps?: boolean;
  readonly withLabel?: boolean;
  /** Timers: the value that always wins over the configured one, `{intervalSeconds}` or `{cron}`. */
  readonly static?: unknown;
  /** `$.interface.http`: the reply is what `respond` was given. */
  readonly customResponse?: boolean;
  /** Slug, for `app`. */
  readonly app?: string;
  readonly appProp?: string;
  readonly eventNames?: readonly string[];
  readonly remote?: boolean;
  readonly alertType?: string;
  readonly content?: string;
  readonly accessMode?: string;
  readonly sync?: boolean;
}

/** What evaluating a component's module says about it. */
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
  /** For the author: what is accepted but probably not meant. */
  readonly warnings: readonly string[];
}
