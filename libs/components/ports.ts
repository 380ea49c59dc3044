/** Ports of the components context. The composition root provides them under these tokens. */
import { type CallOutcome, type ComponentCall } from '#libs/component-model/component-call.js';
import { type ComponentMetadata, type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { type ComponentPackages } from '#libs/component-model/package-lock.js';
import { type PackagesBeside } from './published.js';

export const COMPONENT_INSPECTOR = Symbol('ComponentInspector');
export const COMPONENT_CALLS = Symbol('ComponentCalls');
export const COMPONENT_FETCHER = Symbol('ComponentFetcher');
export const COMPONENT_USERS = Symbol('ComponentUsers');
export const CODE_LIMITS = Symbol('CodeLimits');
export const INSPECTION_LIMITS = Symbol('InspectionLimits');

export interface InspectOptions {
  /** Its ending decides how the code is read: `.mjs`, `.cjs`, `.js`, `.ts`. Relative imports start in its folder. */
  readonly fileName: string;
  /** Text by path, relative to the same root as `fileName`. */
  readonly files?: Readonly<Record<string, string>>;
  /** A private registry may be open to some workspaces only. */
  readonly workspaceId: string;
  /** A code step of a workflow is an action that may lack type, key and name. */
  readonly as: 'component' | 'step';
}

/**
 * Bundles code into one file and evaluates it in the sandbox, without network, for at most 10 s. See
 * docs/reference/component-model.md#evaluate.
 */
export interface ComponentInspector {
  /** Rejects with DomainError component.invalid or component.package_unavailable. */
  inspect(
    code: string,
    options: InspectOptions,
  ): Promise<{
    readonly bundle: string;
    readonly metadata: ComponentMetadata;
    /** Absent for code that imports no npm package. */
    readonly packages?: ComponentPackages;
  }>;
}

export interface ComponentCallRequest {
  readonly workspaceId: string;
  readonly bundleHash: string;
  /** Packages that the process needs beside the bundle. Absent for none. */
  readonly packages?: PackagesBeside | undefined;
  /** Every prop, the dynamic ones included. A value is bound by its type. */
  readonly props: readonly ConfigurableProp[];
  readonly dynamicProps: readonly ConfigurableProp[];
  /** Values by prop, with secrets in clear. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Texts that must not show in logs and errors. */
  readonly secrets: readonly string[];
  readonly call: ComponentCall;
}

/** Calls one function of a component in a jailed process. See docs/reference/component-model.md#calls. */
export interface ComponentCalls {
  /** Resolves even when the component fails. Rejects with component.too_many_calls or component.calls_overloaded. */
  call(request: ComponentCallRequest): Promise<CallOutcome>;
  /** The id of the account that the value of an app prop names, when the workspace has no such account. */
  unknownAccountIn(value: unknown, workspaceId: string): string | undefined;
  /** Reads an answer of additionalProps. Undefined when the process sent anything else. */
  propsIn(answer: string): readonly ConfigurableProp[] | undefined;
}

export interface ComponentUser {
  readonly id: string;
  readonly name: string;
}

/** Finds what would lack a component that is deleted. */
export interface ComponentUsers {
  /** Sources, also those that are being deployed, and workflows whose version in force or draft has the component. */
  of(
    componentId: string,
    workspaceId: string,
  ): Promise<{ readonly sources: readonly ComponentUser[]; readonly workflows: readonly ComponentUser[] }>;
}

export interface InspectionLimits {
  /** Number of concurrent inspections. One workspace holds half of them at most. */
  readonly atOnce: number;
  /** Number of waiting inspections of one workspace. */
  readonly waiting: number;
  readonly waitingInAll: number;
}

export const DEFAULT_INSPECTION_LIMITS: InspectionLimits = { atOnce: 4, waiting: 50, waitingInAll: 200 };

export interface FetchedComponent {
  readonly code: string;
  readonly fileName: string;
  /** Every file that the code imports by a relative path, directly or indirectly. */
  readonly files?: Readonly<Record<string, string>>;
  /** URL after redirects. */
  readonly finalUrl: string;
  /** Relative imports that were not found, each as a sentence with URL and status. */
  readonly missing?: readonly string[];
}

export interface ComponentFetcher {
  /** Rejects with DomainError component.url_unusable, component.too_large or request.invalid_parameter. */
  fetch(url: string): Promise<FetchedComponent>;
}

/** Sizes are UTF-8 bytes. */
export interface CodeLimits {
  /** Size of the component's own code, and of each further file. */
  readonly fileBytes: number;
  readonly files: number;
  /** Size of code and files together. */
  readonly totalBytes: number;
  /** Depth of nested imports. */
  readonly depth: number;
}

/** See docs/reference/limits.md#code-size. */
export const DEFAULT_CODE_LIMITS: CodeLimits = {
  fileBytes: 1024 * 1024,
  files: 200,
  totalBytes: 5 * 1024 * 1024,
  depth: 20,
};
