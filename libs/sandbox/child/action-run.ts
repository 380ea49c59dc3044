import { type ActionAnswer, type ActionFacts } from '#libs/component-model/action-run.js';
import { WARNING } from '#libs/component-model/run-output.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { MAX_NESTING, nestsTooDeep } from '#libs/framing/json-text.js';
import { RUN_LIMITS, TEXT_LIMITS } from '../protocol/protocol.js';
import { contextOf, type ActionContext } from './action-context.js';
import { type BoundComponent } from './component.js';
import { type Execution } from './execution.js';
import { readReply, type RespondInput } from './reply.js';
import { isStream } from './reply-stream.js';
import { Sends } from './sends.js';

const MAX_EXPORTS = 1_000;
const DAY_MS = 86_400_000;
const YEAR_MS = 366 * DAY_MS;

/** The answer wraps an export in two levels. */
const ANSWER_NESTING = MAX_NESTING - 2;

/** No workflow waits for these addresses to be called. */
const NO_RESUME = { resume_url: null, cancel_url: null } as const;

/**
 * Runs an action once, outside a workflow (docs/reference/component-model.md#action-run). Calls that need a workflow
 * are recorded in the log and not carried out.
 */
export const runAction = async (
  component: BoundComponent,
  execution: Execution,
  facts: ActionFacts,
): Promise<ActionAnswer> => {
  const run = new ActionRun(execution, contextOf(facts, Date.now()));
  try {
    const ret = await component.act(execution, run.argument());
    return { exports: run.exported(), ...(ret === undefined ? {} : { ret }) };
  } finally {
    await run.sends.deliver();
  }
};

/** `$` of one run. */
class ActionRun {
  readonly sends: Sends;
  private readonly exports = new Map<string, string>();
  private exportBytes = 0;

  constructor(
    private readonly execution: Execution,
    private readonly context: ActionContext,
  ) {
    this.sends = new Sends((kind, text) => execution.log(kind, text));
  }

  argument(): Readonly<Record<string, unknown>> {
    const { context, sends } = this;
    const $ = {
      context,
      export: this.export,
      respond: this.respond,
      flow: this.flow(),
      send: sends.functions(),
    };
    return { $, steps: { trigger: { event: null, context } }, event: null };
  }

  exported(): Readonly<Record<string, unknown>> {
    return Object.fromEntries([...this.exports].map(([name, text]) => [name, JSON.parse(text) as unknown]));
  }

  private readonly export = (name: unknown, value: unknown): void => {
    if (typeof name !== 'string' || name === '' || name.length > TEXT_LIMITS.name)
      throw new TypeError(`$.export: the name must be a text of 1 to ${TEXT_LIMITS.name} characters`);
    const text = jsonOf(name, value);
    const before = this.exports.get(name);
    if (before === undefined && this.exports.size >= MAX_EXPORTS)
      throw limitError(`$.export: one run may export at most ${MAX_EXPORTS} names`);
    const bytes = this.exportBytes + Buffer.byteLength(text) - Buffer.byteLength(before ?? '');
    if (bytes > RUN_LIMITS.payloadBytes)
      throw limitError(
        `$.export: this run would export ${bytes} bytes, at most ${RUN_LIMITS.payloadBytes} (6 MB) per run are allowed`,
      );
    this.exportBytes = bytes;
    this.exports.set(name, text);
  };

  /** Checks the reply like a source's, and warns that no caller receives it. */
  private readonly respond = (input?: RespondInput): Promise<void> => {
    const { status } = readReply(isStream(input?.body) ? { ...input, body: undefined } : input);
    this.warn(`$.respond: a single run has no caller, so the reply with status ${status} reaches nobody`);
    return Promise.resolve();
  };

  private flow(): Readonly<Record<string, unknown>> {
    return {
      exit: (reason?: unknown): void => this.note('exit', reason === undefined ? '' : textOf(reason)),
      delay: (ms: unknown, context?: unknown) => {
        this.note('delay', `${msOf('delay', ms)} ms${contextText(context)}: a single run does not pause`);
        return NO_RESUME;
      },
      suspend: (ms: unknown = DAY_MS, context?: unknown) => {
        this.note('suspend', `${msOf('suspend', ms)} ms${contextText(context)}: a single run does not pause`);
        return NO_RESUME;
      },
      rerun: (ms: unknown, context?: unknown, most: unknown = 10) => {
        const told = `${msOf('rerun', ms)} ms, at most ${textOf(most)} times${contextText(context)}`;
        this.note('rerun', `${told}: a single run is not repeated`);
        return NO_RESUME;
      },
      refreshTimeout: (): number => this.context.deadline,
      trigger: (): never => {
        throw new Error('$.flow.trigger: a single run of an action cannot start a workflow');
      },
    };
  }

  private note(what: string, text: string): void {
    this.execution.log(`flow.${what}`, text.toWellFormed());
  }

  private warn(text: string): void {
    this.execution.log(WARNING, text.toWellFormed());
  }
}

const limitError = (message: string): Error =>
  Object.assign(new Error(message), { code: 'FunctionPayloadLimitExceeded' });

/** `undefined` is exported as null, because the name is there. */
const jsonOf = (name: string, value: unknown): string => {
  let text: string | undefined;
  try {
    text = JSON.stringify(value ?? null);
  } catch (error) {
    throw new Error(`$.export: the value of ${name} cannot be written as JSON: ${messageOf(error)}`, { cause: error });
  }
  if (text === undefined) throw new Error(`$.export: the value of ${name} is a ${typeof value}, which has no JSON`);
  if (nestsTooDeep(text, ANSWER_NESTING))
    throw new Error(`$.export: the value of ${name} nests more than ${ANSWER_NESTING} levels deep`);
  return text;
};

const MAX_NOTE = 1_000;

const textOf = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? typeof value);
  return text.length > MAX_NOTE ? `${text.slice(0, MAX_NOTE)}…` : text;
};

const contextText = (context: unknown): string => (context === undefined ? '' : `, with context ${textOf(context)}`);

const msOf = (what: string, ms: unknown): number => {
  if (typeof ms === 'number' && ms >= 1 && ms <= YEAR_MS) return ms;
  throw new RangeError(`$.flow.${what}: the time must be a number of milliseconds from 1 to ${YEAR_MS}`);
};
