/** Types of the test kit, as tests import them from `sluice/test`. */

/** Any value as JSON has it. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** What is there before the first step. */
export interface GivenState {
  /** Values of the props, as a deployment takes them. */
  readonly props?: Readonly<Record<string, unknown>>;
  /** Content of `$.service.db`. */
  readonly db?: Readonly<Record<string, unknown>>;
  /** Fields of `$auth` by the name of the prop of type `app`. */
  readonly accounts?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Records of data stores by the name of the prop of type `data_store`. */
  readonly stores?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Time of the first step. Default: now. */
  readonly now?: string | number | Date;
  /** Answers to requests of the component, or a file of recorded ones, relative to the test. */
  readonly http?: readonly Stub[] | string;
}

export type Step =
  /** A request to the endpoint. */
  | {
      readonly request: {
        /** Default: POST with a body, else GET. */
        readonly method?: string;
        /** Below the endpoint. Default: `/`. */
        readonly path?: string;
        readonly query?: string | Readonly<Record<string, string | readonly string[]>>;
        readonly headers?: Readonly<Record<string, string>>;
        /** An object is sent as JSON. */
        readonly body?: unknown;
      };
    }
  /** An event of another source. */
  | { readonly event: unknown }
  /** A tick of the timer prop of this name, now. */
  | { readonly tick: string }
  /** Time that passes, such as `'15m'` or milliseconds. Timers tick when they come due. */
  | { readonly after: string | number }
  | { readonly hook: 'deploy' | 'activate' | 'deactivate' }
  /** Asks for the options of a prop. */
  | { readonly options: string; readonly page?: number; readonly query?: string }
  /** Runs an action with these props, beside the given ones. */
  | { readonly run: Readonly<Record<string, unknown>> };

export interface Reply {
  /** Default: 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** A value that is no text is sent as JSON. */
  readonly body?: unknown;
}

/** A request that the component made. */
export interface Request {
  readonly method: string;
  readonly url: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The value of a JSON body, else the text. */
  readonly body: unknown;
}

/** Answers requests. The first one that fits a request answers it. */
export interface Stub {
  /** Default: any. */
  readonly method?: string;
  /** The whole address. Without a query it fits every query. */
  readonly url: string | RegExp;
  /** What a body must have, at least. */
  readonly body?: unknown;
  /** Answers so often. Default: always. */
  readonly times?: number;
  readonly reply: Reply | ((request: Request) => Reply | Promise<Reply>);
}

export interface Emit {
  readonly event: unknown;
  readonly id?: string | number;
  readonly summary?: string;
  /** Channel. Absent for the default one. */
  readonly name?: string;
  readonly ts?: number;
  /** Time at which a server passes the event on. */
  readonly delivery_ts?: number;
}

export interface Log {
  /** `console.log`, `console.error`, … */
  readonly kind: string;
  readonly text: string;
  readonly ts: number;
}

export interface Failure {
  readonly name: string;
  readonly message: string;
  readonly code: string;
  readonly stack: string;
  /** Place in the author's files, where the stack has one. */
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
}

/** A reply of the component, as a caller sees it. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The value of a JSON body, else the text. */
  readonly body: unknown;
}

/** What all steps left. */
export interface Outcome {
  readonly emits: readonly Emit[];
  /** Emits that deduplication dropped. */
  readonly dropped: readonly Emit[];
  readonly logs: readonly Log[];
  /** Warnings about the code, the props and the runs. */
  readonly warnings: readonly string[];
  /** The first error. */
  readonly error?: Failure;
  /** Of the last request. */
  readonly reply?: Answer;
  readonly db: Readonly<Record<string, unknown>>;
  readonly requests: readonly Request[];
  /** Of the last step `options`. */
  readonly options?: readonly unknown[];
  /** Of the last step `run`. */
  readonly ret?: unknown;
  /** Of the last step `run`. */
  readonly exports?: Readonly<Record<string, unknown>>;
  /** Time that the code took, by the clock of the test. */
  readonly ms: number;
  /** Time of the test after the last step, in epoch milliseconds. */
  readonly now: number;
  /**
   * Compares what is given with the outcome, and throws an AssertionError with the difference. Objects may have further
   * fields, lists no further entries.
   */
  expect(part: Expected): this;
}

/** Parts of an outcome, at any depth. A field that is undefined must be absent. */
export type Expected = { readonly [Field in keyof Omit<Outcome, 'expect'>]?: unknown };

export interface Given {
  /** Runs the steps in order, from the given state on. */
  when(...steps: readonly Step[]): Promise<Outcome>;
}
