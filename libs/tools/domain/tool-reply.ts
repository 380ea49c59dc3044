import { isUtf8 } from 'node:buffer';
import { type ActionAnswer } from '#libs/component-model/action-run.js';
import { type OptionWithLabel } from '#libs/component-model/component-metadata.js';
import { type LogLine } from '#libs/component-model/run-output.js';

/** Answer of a call, in the form of the protocol. */
export interface ToolReply {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: true;
}

/** What a call waited for. The fields are those of the record of a run. */
export interface CalledRun {
  readonly id: string;
  readonly state: 'queued' | 'running' | 'waiting' | 'succeeded' | 'failed' | 'cancelled' | 'exited';
  /** Null unless the run has failed. Has `name` and `message`. */
  readonly error: Readonly<Record<string, unknown>> | null;
  readonly cancel_reason: string | null;
  /** What `$.respond` gave. */
  readonly response: { readonly body?: string | undefined; readonly base64?: boolean | undefined } | null;
  /** In the order of the definition. Exports hold `$return_value`. */
  readonly steps: readonly { readonly state: string; readonly exports: unknown }[];
}

export interface Failure {
  readonly name: string;
  readonly message: string;
}

/** Failures and wrong arguments are answers, so that the model can read what to change. */
export const failedReply = ({ name, message }: Failure): ToolReply => ({
  content: [textOf(`${name}: ${message}`)],
  isError: true,
});

export const actionReply = ({ ret = null, exports }: ActionAnswer): ToolReply => ({
  content: [textOf(JSON.stringify(ret))],
  structuredContent: { ret, exports },
});

/** What the options method of a prop left. */
export interface AskedOptions {
  readonly options: readonly OptionWithLabel[] | null;
  readonly stringOptions: readonly string[] | null;
  readonly context: unknown;
  readonly logs: readonly LogLine[];
  /** Each `<name>: <message>`. */
  readonly errors: readonly string[];
}

/** In the form of `POST /v1/components/configure`. */
export const optionsReply = ({ options, stringOptions, context, logs, errors }: AskedOptions): ToolReply => {
  const observations = logs.map(({ k, ts, msg }) => ({ k, ts, msg }));
  const answer = { options, string_options: stringOptions, context, observations, errors };
  return errors.length === 0
    ? { content: [textOf(JSON.stringify(answer))], structuredContent: answer }
    : { content: [textOf(errors.join('\n'))], structuredContent: answer, isError: true };
};

export const runReply = (run: CalledRun): ToolReply => {
  const { id, state } = run;
  switch (state) {
    case 'failed':
      return withRun(run, failedReply(failureIn(run)));
    case 'cancelled': {
      const message = `run ${id} was cancelled (${run.cancel_reason ?? 'no reason is known'})`;
      return withRun(run, failedReply({ name: 'Cancelled', message }));
    }
    case 'succeeded':
    case 'exited':
      return resultReply(run, []);
    case 'queued':
    case 'running':
    case 'waiting':
      // Many clients show a model the texts only.
      return resultReply(run, [
        textOf(`Run ${id} has not ended: its state is ${state}. It goes on without this call.`),
      ]);
  }
};

const failureIn = ({ id, error }: CalledRun): Failure => ({
  name: textOr(error?.['name'], 'Error'),
  message: textOr(error?.['message'], `run ${id} failed`),
});

const textOr = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise);

const withRun = ({ id, state }: CalledRun, reply: ToolReply): ToolReply => ({
  ...reply,
  structuredContent: { run_id: id, state, result: null },
});

const resultReply = (run: CalledRun, more: ToolReply['content']): ToolReply => {
  const { text, result } = resultOf(run);
  return {
    content: [textOf(text), ...more],
    structuredContent: { run_id: run.id, state: run.state, result },
  };
};

/** A body that is no JSON is the result as it is. */
const resultOf = ({ response, steps }: CalledRun): { readonly text: string; readonly result: unknown } => {
  if (response?.body !== undefined) {
    const text = response.base64 === true ? decoded(response.body) : response.body;
    return { text, result: jsonOr(text) };
  }
  const result = returnedBy(steps.findLast(({ state }) => state === 'succeeded')?.exports);
  return { text: JSON.stringify(result), result };
};

const returnedBy = (exports: unknown): unknown => {
  if (typeof exports !== 'object' || exports === null || !Object.hasOwn(exports, '$return_value')) return null;
  return (exports as { readonly $return_value: unknown }).$return_value ?? null;
};

/** Bytes that are no text stay in base64, because an answer has only texts. */
const decoded = (base64: string): string => {
  const bytes = Buffer.from(base64, 'base64');
  return isUtf8(bytes) ? bytes.toString() : base64;
};

const jsonOr = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
};

const textOf = (text: string): ToolReply['content'][number] => ({ type: 'text', text });
