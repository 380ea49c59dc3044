/** What this context needs from outside, declared by it; the composition root provides it under these tokens. */
import { type ComponentMetadata } from '../component-model/component-metadata.js';

export const COMPONENT_INSPECTOR = Symbol('ComponentInspector');
export const COMPONENT_FETCHER = Symbol('ComponentFetcher');
/** Optional; DEFAULT_CODE_LIMITS when it is not provided. */
export const CODE_LIMITS = Symbol('CodeLimits');

/** Optional; DEFAULT_INSPECTION_LIMITS when it is not provided. */
export const INSPECTION_LIMITS = Symbol('InspectionLimits');

export interface InspectOptions {
  /** Decides how the code is read (`.mjs`, `.cjs`, `.js`, `.ts`); may have folders: relative imports start there. */
  readonly fileName: string;
  /** Path to text, on the same footing as `fileName`. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Bundles code into one file and evaluates it in the sandbox, without network, for at most 10 s (decisions.md 2.1). */
export interface ComponentInspector {
  /** Rejects with DomainError component.invalid or component.package_unavailable. */
  inspect(
    code: string,
    options: InspectOptions,
  ): Promise<{ readonly bundle: string; readonly metadata: ComponentMetadata }>;
}

export interface InspectionLimits {
  /** Inspections under way at once; one workspace holds half of them at most. */
  readonly atOnce: number;
  /** Of one workspace, that wait. */
  readonly waiting: number;
  readonly waitingInAll: number;
}

export const DEFAULT_INSPECTION_LIMITS: InspectionLimits = { atOnce: 4, waiting: 50, waitingInAll: 200 };

export interface FetchedComponent {
  readonly code: string;
  readonly fileName: string;
  /** Everything that the code imports by a relative path, directly or not. */
  readonly files?: Readonly<Record<string, string>>;
  /** After redirects. */
  readonly finalUrl: string;
  /** Relative imports that were not there, each as a sentence with URL and status. */
  readonly missing?: readonly string[];
}

export interface ComponentFetcher {
  /** Rejects with DomainError component.url_unusable, component.too_large or request.invalid_parameter. */
  fetch(url: string): Promise<FetchedComponent>;
}

/** Sizes in bytes of UTF-8. */
export interface CodeLimits {
  /** Of the component's own code, and of each further file. */
  readonly fileBytes: number;
  readonly files: number;
  /** Of code and files together. */
  readonly totalBytes: number;
  /** Imports from imports. */
  readonly depth: number;
}

/** decisions.md 1.4, "Code size" and "Relative imports". */
export const DEFAULT_CODE_LIMITS: CodeLimits = {
  fileBytes: 1024 * 1024,
  files: 200,
  totalBytes: 5 * 1024 * 1024,
  depth: 20,
};
