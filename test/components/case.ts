import { type Protection } from '#libs/sandbox/index.js';

/** One row of the conformance suite: a component, its input, the steps, and the expected results. */
export interface Case {
  /** File below test/components. One in a folder of its own is bundled with all files of that folder. */
  readonly component: string;
  readonly title: string;
  /** Rules of the component model that the case shows, by their anchors. */
  readonly shows: readonly string[];
  readonly given?: Given;
  readonly when?: readonly Step[];
  readonly then: Then;
  /** Protection of a level without which the case cannot hold. It is skipped there, by name. */
  readonly needs?: Protection;
}

export interface Given {
  /** `configured_props`. The text `$SERVER` stands for the address of the test's own HTTP server. */
  readonly props?: Readonly<Record<string, unknown>>;
  /** Content of `$.service.db`. */
  readonly db?: Readonly<Record<string, unknown>>;
  readonly timeoutMs?: number;
}

export type Step =
  | { readonly event: unknown }
  | { readonly request: Request }
  | { readonly hook: 'deploy' | 'activate' | 'deactivate' }
  /** Ends the process and starts another from what was stored. */
  | { readonly restart: true }
  /** Events that arrive together. */
  | { readonly together: readonly unknown[] };

export interface Request {
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text, or bytes in Latin-1 with `binary`. */
  readonly body?: string;
  readonly binary?: true;
}

/**
 * Expected results of all steps together. Only the given fields are compared. A RegExp matches a text. `emits`, `db`
 * and `logs` must match completely; objects in the other fields may have more fields.
 */
export interface Then {
  /** Values of the events on every channel but `$errors` and `$logs`, in order. */
  readonly emits?: readonly unknown[];
  /** Channel, id, summary and ts of these events, each only where it was given. */
  readonly metadata?: readonly EmitMetadata[];
  /** Lines of `$logs` as `kind: text`. */
  readonly logs?: readonly (string | RegExp)[];
  readonly errors?: readonly unknown[];
  readonly db?: Readonly<Record<string, unknown>>;
  /** Replies to the requests: status, headers, body. */
  readonly replies?: readonly unknown[];
  /** Expected metadata of the component. */
  readonly described?: Readonly<Record<string, unknown>>;
  /** Codes of the warnings of the component and its props. */
  readonly warnings?: readonly string[];
  /** The component or its props are refused. Nothing else is compared. */
  readonly refused?: { readonly code: string; readonly text: RegExp };
}

export interface EmitMetadata {
  readonly channel?: string;
  readonly id?: string | number;
  readonly summary?: string;
  readonly ts?: number;
}

/** Cases of one area, whose components lie in the folder of the area's name. */
export interface Area {
  readonly area: string;
  readonly title: string;
  readonly cases: readonly Case[];
}
