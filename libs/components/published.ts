/** Published contract of the components context. */
import { type DedupeStrategy } from '#libs/component-model/dedupe-strategy.js';
import { type HookName } from '#libs/component-model/hooks.js';
import { type PackageChanges } from '#libs/component-model/package-lock.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { type Warning } from '#libs/kernel/warning.js';
import { type ConfigurableProp, type OptionWithLabel } from '#libs/component-model/component-metadata.js';
import { type LogLine } from '#libs/component-model/run-output.js';
import { type Caller } from '#libs/http/callers.js';

export interface ImportedPackage {
  readonly name: string;
  readonly version: string;
  /** Absent when the package states none. */
  readonly licence?: string;
}

export { isNewerVersion } from './domain/version-order.js';
export { REGISTRY_WORKSPACE } from './registry/registry-entry.js';

/** npm packages of a component. See docs/reference/component-model.md#npm-packages. */
export interface SavedPackages {
  /** Blob of the lock, as JSON of PackageLock. */
  readonly lockHash: string;
  /** Blob of the file name and the further files, as JSON of CodeParts, so that the code can be built again. */
  readonly partsHash: string;
  readonly count: number;
  /** Unpacked size. */
  readonly bytes: number;
  /** Time that the installation took. */
  readonly ms: number;
  readonly cached: boolean;
  /** Each `name@version` once, sorted. */
  readonly uses: readonly string[];
  /** Packages that the code imports, or a package without declaring them; 100 at most. */
  readonly imported: readonly ImportedPackage[];
  /** Whether packages stay beside the bundle, and whether they load machine code. Absent when none does. */
  readonly beside?: { readonly hasMachineCode: boolean };
}

export interface ComponentSaved {
  readonly type: 'ComponentSaved';
  readonly data: {
    readonly componentId: string;
    readonly userId: string;
    readonly kind: 'source' | 'action';
    readonly key: string | null;
    readonly name: string;
    readonly version: string;
    readonly description: string | null;
    readonly annotations: Readonly<Record<string, unknown>> | null;
    /** Blob of the exact code; its hash is the component's `code_hash`. */
    readonly codeHash: string;
    /** Blob of the one-file bundle that runs. */
    readonly bundleHash: string;
    /** Absent for code that imports no npm package. */
    readonly packages?: SavedPackages;
    /** Size of code and bundle in bytes. */
    readonly bytes: number;
    /** Location of the code; metadata only. */
    readonly url: string | null;
    readonly configurableProps: readonly ConfigurableProp[];
    readonly hooks: readonly HookName[];
    readonly dedupe: DedupeStrategy | null;
    readonly hasRun: boolean;
    /** Absent when there are none. */
    readonly hasAdditionalProps?: true;
    /** Absent when there are none. */
    readonly warnings?: readonly Warning[];
    /** Epoch milliseconds. */
    readonly savedAt: number;
  };
}

/** The same code was posted again by the same workspace. */
export interface ComponentSavedAgain {
  readonly type: 'ComponentSavedAgain';
  readonly data: { readonly url: string | null; readonly savedAt: number };
}

/** The same code was built again with other packages. Has every field that can differ from the saved component. */
export interface ComponentPackagesRefreshed {
  readonly type: 'ComponentPackagesRefreshed';
  /** `dropped` has each `name@version` that is no longer among `uses`. Absent for none. */
  readonly data: ComponentSaved['data'] & { readonly dropped?: readonly string[] };
}

/** The component can no longer be found. Saving its code makes it anew, under the same id. */
export interface ComponentDeleted {
  readonly type: 'ComponentDeleted';
  /** `uses` has each `name@version` of its npm packages. Absent for none. */
  readonly data: { readonly uses?: readonly string[]; readonly deletedAt: number };
}

export type ComponentEvent = ComponentSaved | ComponentSavedAgain | ComponentPackagesRefreshed | ComponentDeleted;

/** Packages that the bundle requires while it runs. */
export interface PackagesBeside {
  readonly lockHash: string;
  readonly hasMachineCode: boolean;
}

/** The part of a component that a source needs. */
export interface DeployableComponent {
  readonly id: string;
  readonly key: string | null;
  readonly name: string;
  readonly kind: 'source' | 'action';
  readonly bundleHash: string;
  /** Packages that the process needs beside the bundle. Absent for none. */
  readonly packages?: PackagesBeside;
  readonly configurableProps: readonly ConfigurableProp[];
  readonly hooks: readonly HookName[];
  readonly dedupe: DedupeStrategy | null;
  /** Absent for a component without additionalProps. */
  readonly hasAdditionalProps?: true;
  /** Changes of the packages by a refresh. Absent without one. */
  readonly packageChanges?: PackageChanges;
  /** Warnings of the inspection at the first save. */
  readonly warnings?: readonly Warning[];
}

/** Names a component; earlier fields take precedence. See docs/reference/rest-api.md#source-reference. */
export interface ComponentReference {
  readonly componentId?: string;
  readonly componentCode?: string;
  readonly componentUrl?: string;
  readonly files?: Readonly<Record<string, string>>;
  /** Path of the code among `files`. */
  readonly fileName?: string;
  readonly key?: string;
  /** With `key`: an exact version, or `^1.2.3` for the newest that a caret range of npm allows. */
  readonly version?: string;
  /** With `key`: does not look in the registry. */
  readonly ownOnly?: boolean;
  /** Resolves the newest npm packages, and builds the code again. */
  readonly refreshPackages?: boolean;
  /** The code is that of a step of a workflow: an action that may lack type, key and name. */
  readonly isStep?: boolean;
}

/** Token under which ComponentsModule provides its AdditionalProps. */
export const ADDITIONAL_PROPS = Symbol('AdditionalProps');

export interface AdditionalPropsRequest {
  readonly workspaceId: string;
  readonly component: DeployableComponent;
  /** Values by prop, with secrets in clear. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Props that earlier calls added or changed. */
  readonly dynamicProps: readonly ConfigurableProp[];
  readonly secrets: readonly string[];
}

/** Implemented by the components context. See docs/reference/component-model.md#additional-props. */
export interface AdditionalProps {
  /**
   * Calls additionalProps. Resolves with the props that differ from the component's own; with none for a component
   * without the method. Rejects with DomainError component.additional_props_failed.
   */
  call(request: AdditionalPropsRequest): Promise<readonly ConfigurableProp[]>;
  /** Reads the props under a `dyp_…` id. Rejects with DomainError component.dynamic_props_not_found. */
  stored(id: string, workspaceId: string, componentId: string): Promise<readonly ConfigurableProp[]>;
}

/** Token under which ComponentsModule provides its EventNames. */
export const EVENT_NAMES = Symbol('EventNames');

/** Implemented by the components context. See docs/reference/component-model.md#apphook-event-names. */
export interface EventNames {
  /**
   * Calls `eventNames` of a prop. Resolves with null when the prop has none, or when the method returns nothing. Rejects
   * with DomainError component.event_names_failed.
   */
  call(request: AdditionalPropsRequest, prop: string): Promise<readonly string[] | null>;
}

/** The component's own props with those that additionalProps added or changed. */
export const withDynamicProps = (
  own: readonly ConfigurableProp[],
  dynamic: readonly ConfigurableProp[],
): readonly ConfigurableProp[] => {
  const changed = new Map(dynamic.map((prop) => [prop.name, prop]));
  const names = new Set(own.map(({ name }) => name));
  return [...own.map((prop) => changed.get(prop.name) ?? prop), ...dynamic.filter(({ name }) => !names.has(name))];
};

/** Token under which ComponentsModule provides its ComponentCatalog. */
export const COMPONENT_CATALOG = Symbol('ComponentCatalog');

/** Inline code and refreshed packages can run before they are saved, so that a refused request leaves none behind. */
export interface ResolvedComponent extends DeployableComponent {
  readonly version: string;
  readonly description: string | null;
  /** Blob of the code. */
  readonly codeHash: string;
  /**
   * Saves them, and any other component that was deleted since it was found. Call it once the source is written that
   * uses the component.
   */
  keep(): Promise<void>;
  /** Call it at the end of the request. What was not saved cannot run afterwards. */
  release(): Promise<void>;
}

/** Implemented by the components context. Checks inline code and finds components by reference. */
export interface ComponentCatalog {
  /** Rejects with DomainError component.* (not found, invalid, too large, reference missing). */
  resolve(reference: ComponentReference, context: CommandContext): Promise<ResolvedComponent>;
}

/** Token under which ComponentsModule provides its ComponentOptions. */
export const COMPONENT_OPTIONS = Symbol('ComponentOptions');

export interface OptionsRequest {
  /** Id or key. */
  readonly component: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly dynamicPropsId?: string;
  readonly caller: Caller;
  readonly prop: string;
  readonly page: number;
  readonly prevContext: unknown;
  readonly query?: string;
}

export interface FoundOptions {
  readonly options: readonly OptionWithLabel[] | null;
  readonly stringOptions: readonly string[] | null;
  readonly context: unknown;
  readonly logs: readonly LogLine[];
  readonly errors: readonly string[];
  readonly warnings: readonly Warning[];
}

/** Implemented by the components context. See docs/reference/rest-api.md#configure. */
export interface ComponentOptions {
  options(request: OptionsRequest): Promise<FoundOptions>;
}
