import { type ActionAnswer, type ActionFacts } from '#libs/component-model/action-run.js';
import { WARNING } from '#libs/component-model/run-output.js';
import { MAX_NESTING } from '#libs/framing/json-text.js';
import { RUN_LIMITS } from '../protocol/protocol.js';
import { contextOf, type ActionContext } from './action-context.js';
import { type BoundComponent } from './component.js';
import { type Execution } from './execution.js';
import { Exports } from './exports.js';
import { contextText, msOf, SUSPEND_MS, textOf } from './flow-texts.js';
import { limitError } from './json-of.js';
import { checkedReply, type RespondInput } from './reply.js';
import { Sends } from './sends.js';

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
  private exportBytes = 0;
  private readonly exports = new Exports({ levels: ANSWER_NESTING, count: (bytes) => this.count(bytes) });

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
      export: (name: unknown, value: unknown): void => this.exports.put(name, value),
      respond: this.respond,
      flow: this.flow(),
      send: sends.functions(),
    };
    return { $, steps: { trigger: { event: null, context } }, event: null };
  }

  exported(): Readonly<Record<string, unknown>> {
    return Object.fromEntries([...this.exports].map(([name, text]) => [name, JSON.parse(text) as unknown]));
  }

  private count(bytes: number): void {
    const total = this.exportBytes + bytes;
    if (total > RUN_LIMITS.payloadBytes)
      throw limitError(
        'FunctionPayloadLimitExceeded',
        `$.export: this run would export ${total} bytes, at most ${RUN_LIMITS.payloadBytes} (6 MB) per run are allowed`,
      );
    this.exportBytes = total;
  }

  /** Checks the reply like a source's, and warns that no caller receives it. */
  private readonly respond = (input?: RespondInput): Promise<void> => {
    const { status } = checkedReply(input);
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
      suspend: (ms: unknown = SUSPEND_MS, context?: unknown) => {
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
