import { type ActionAnswer } from '#libs/component-model/action-run.js';
import { bodyRangeOf } from '#libs/component-model/http-event.js';
import { type OptionsAnswer } from '#libs/component-model/component-call.js';
import {
  type EmitCall,
  type HttpReply,
  type LogLine,
  type UserError,
  WARNING,
} from '#libs/component-model/run-output.js';
import { endpointEvent } from '#libs/ingress/endpoint-event.js';
import { DbDraft } from '#libs/runner/outcome/db-draft.js';
import { type DedupeCache } from '#libs/runner/outcome/dedupe-cache.js';
import { DEDUPE_NOTE, dedupedOutput } from '#libs/runner/outcome/deduped-output.js';
import { applyDb, withoutDb } from '#libs/runner/outcome/refused-db.js';
import { warnedOfHookReply, warnedOfReply } from '#libs/runner/outcome/reply-warnings.js';
import { SecretMask } from '#libs/runner/outcome/secret-mask.js';
import { replyOf, type RunOutcome } from '#libs/sandbox/index.js';
import { nextTick } from '#libs/scheduling/next-tick.js';
import { tickEvent } from '#libs/scheduling/tick-event.js';
import { propsOf, type Timer } from '#libs/sources/published.js';
import { type BoundProps, endpointUrl } from './bound-props.js';
import { type ComponentProcess, type TestClock } from './component-process.js';
import { ACCEPTED, answerOf, endpointRequest, type RequestStep } from './http-step.js';
import { type Emit, type Failure, type Log, type Outcome, type Step } from './published.js';
import { spanOf } from './time.js';

type Written = { -readonly [Field in keyof Omit<Outcome, 'expect'>]: Outcome[Field] };

/** Ticks that one step `after` may bring. */
const MOST_TICKS = 1_000;
/** Longest run on a server, beyond which a wait is warned about (docs/reference/limits.md#run-time). */
const SERVER_LIMIT_MS = 60_000;

export interface TestRunOptions {
  readonly process: ComponentProcess;
  readonly clock: TestClock;
  readonly props: BoundProps;
  readonly db: Readonly<Record<string, string>>;
  readonly kind: 'source' | 'action' | 'app';
}

/** Runs the steps of one test in order, and keeps what they leave as a server does. */
export class TestRun {
  readonly emits: Emit[] = [];
  readonly dropped: Emit[] = [];
  readonly logs: Log[] = [];
  readonly warnings: string[];
  private readonly left: Partial<Written> = {};
  private readonly mask: SecretMask;
  private readonly armedAt: number;
  private caches: Readonly<Record<string, DedupeCache>> = {};
  private db: Readonly<Record<string, string>>;
  private ms = 0;
  private readonly contexts = new Map<string, unknown>();

  constructor(private readonly options: TestRunOptions) {
    const { props, db, clock } = options;
    this.warnings = [...props.warnings];
    this.mask = new SecretMask(props.secrets);
    this.armedAt = clock.now;
    this.db = db;
  }

  async take(step: Step): Promise<void> {
    if ('request' in step) return this.request(step.request);
    if ('event' in step) return this.run('emit', JSON.stringify(step.event) ?? 'null');
    if ('tick' in step) return this.tick(this.timerOf(step.tick), this.options.clock.now);
    if ('after' in step) return this.after(step.after);
    if ('hook' in step) return this.hook(step.hook);
    if ('options' in step) return this.askOptions(step);
    if ('run' in step) return this.act();
    throw new TypeError(`a step is one of ${STEPS.join(', ')}, not ${JSON.stringify(step)}`);
  }

  outcome(): Omit<Outcome, 'expect' | 'requests'> {
    const { emits, dropped, logs, warnings, ms, db, left, options } = this;
    const stored = Object.entries(db).map(([key, text]): [string, unknown] => [key, JSON.parse(text)]);
    return { ...left, emits, dropped, logs, warnings, db: Object.fromEntries(stored), ms, now: options.clock.now };
  }

  private async request(step: RequestStep): Promise<void> {
    const { props, process } = this.options;
    const [endpoint] = propsOf(props.definition, 'http');
    if (!endpoint) throw new TypeError('request: the component has no prop of type $.interface.http');
    const { text, bodyAt } = await endpointEvent(endpointRequest(step, endpointUrl(endpoint.key)), true);
    const { customResponse } = endpoint;
    let immediate: HttpReply | undefined;
    const body = bodyRangeOf(text, bodyAt);
    const outcome = await process.run(text, body, this.db, (reply) => (immediate = reply));
    const headers = { kind: 'http', respond: customResponse ? 'test' : '', confined: '1' } as const;
    await this.keep(warnedOfReply(this.mask.outcome(outcome), headers));
    this.left.reply = answerOf(customResponse ? (immediate ?? replyOf(outcome, 'inv_test')) : ACCEPTED);
  }

  private async run(kind: 'emit' | 'timer', event: string): Promise<void> {
    const outcome = await this.options.process.run(event, undefined, this.db, () => undefined);
    await this.keep(warnedOfReply(this.mask.outcome(outcome), { kind, respond: '' }));
  }

  private tick(timer: Timer, at: number): Promise<void> {
    return this.run('timer', tickEvent(timer, at));
  }

  private timerOf(name: string): Timer {
    const timers = propsOf(this.options.props.definition, 'timer');
    const timer = timers.find(({ prop }) => prop === name);
    if (timer) return timer;
    const known = timers.map(({ prop }) => prop).join(', ') || 'none';
    throw new TypeError(`tick: the component has no timer ${JSON.stringify(name)}; its timers: ${known}`);
  }

  /** Lets time pass. The ticks that come due run in order, each at its time. */
  private async after(given: string | number): Promise<void> {
    const { props, clock } = this.options;
    const timers = propsOf(props.definition, 'timer');
    const from = clock.now;
    const until = from + spanOf(given);
    for (let ticks = 0, last = from; ; ticks++) {
      const due = timers.flatMap((timer) => {
        const at = nextTick(timer, this.armedAt, last);
        return at === undefined || at > until ? [] : [{ timer, at }];
      });
      if (due.length === 0) break;
      if (ticks >= MOST_TICKS)
        throw new RangeError(
          `after: in ${String(given)} the timers tick more than ${MOST_TICKS} times: let less time pass`,
        );
      last = Math.min(...due.map(({ at }) => at));
      clock.now = Math.max(clock.now, last);
      for (const { timer, at } of due) if (at === last) await this.tick(timer, at);
    }
    clock.now = Math.max(clock.now, until);
  }

  private async hook(hook: 'deploy' | 'activate' | 'deactivate'): Promise<void> {
    const outcome = await this.options.process.hook(hook, this.db);
    await this.keep(warnedOfHookReply(this.mask.outcome(outcome), hook));
  }

  private async askOptions({ options: prop, page = 0, query }: Extract<Step, { options: string }>): Promise<void> {
    const prevContext = this.contexts.get(prop) ?? {};
    const call = { kind: 'options', prop, page, prevContext, ...(query === undefined ? {} : { query }) } as const;
    const outcome = await this.options.process.ask(call);
    await this.keep(this.mask.outcome(outcome));
    const { options, context } = answerIn<OptionsAnswer>(outcome) ?? { options: [] };
    this.left.options = options;
    this.contexts.set(prop, context);
  }

  private async act(): Promise<void> {
    const { process, clock, kind } = this.options;
    if (kind !== 'action') throw new TypeError(`run: the component is of kind ${kind}, and "run" runs actions`);
    const ts = new Date(clock.now).toISOString();
    const facts = { runId: 'run_test', workspaceId: 'o_test', ts, timeoutMs: SERVER_LIMIT_MS };
    const outcome = await process.ask({ kind: 'action', facts });
    await this.keep(this.mask.outcome(outcome));
    const answer = answerIn<ActionAnswer>(outcome);
    this.left.exports = answer?.exports ?? {};
    if (answer && 'ret' in answer) this.left.ret = answer.ret;
    else delete this.left.ret;
  }

  /** What a commit keeps of a run. A run whose db is refused leaves its process with content that is not kept. */
  private async keep(given: RunOutcome): Promise<void> {
    const { definition } = this.options.props;
    const draft = new DbDraft(this.db);
    const refused = applyDb(draft, given.dbChanges);
    const outcome = refused ? withoutDb(given, refused) : given;
    if (refused) await this.options.process.restart();
    const { passed, dropped, lines, caches } = dedupedOutput(outcome, {
      strategy: definition.dedupe,
      caches: this.caches,
    });
    this.db = draft.result();
    this.caches = caches;
    this.emits.push(...passed.map(emitOf));
    this.dropped.push(...dropped.map(emitOf));
    for (const line of lines) this.tell(line);
    if (outcome.error) this.left.error ??= failureOf(outcome.error);
    const ms = outcome.endedAt - outcome.startedAt;
    this.ms += ms;
    if (ms > SERVER_LIMIT_MS)
      this.warnings.push(
        `a run waited ${ms} ms by the clock of the test: a server ends a run after ${SERVER_LIMIT_MS} ms`,
      );
  }

  private tell({ k, ts, msg }: LogLine): void {
    if (k === WARNING || k === DEDUPE_NOTE) this.warnings.push(msg);
    else this.logs.push({ kind: k, text: msg, ts });
  }
}

const STEPS = ['request', 'event', 'tick', 'after', 'hook', 'options', 'run'];

const answerIn = <T>({ value }: RunOutcome): T | undefined =>
  value === undefined ? undefined : (JSON.parse(value) as T);

const emitOf = ({ payload, channel, id, summary, ts, deliverAt }: EmitCall): Emit => ({
  event: JSON.parse(payload) as unknown,
  ...(id === undefined ? {} : { id }),
  ...(summary === undefined ? {} : { summary }),
  ...(channel === '' ? {} : { name: channel }),
  ...(ts === undefined ? {} : { ts }),
  ...(deliverAt === undefined ? {} : { delivery_ts: deliverAt }),
});

const failureOf = ({ name, message, code, stack, place }: UserError): Failure => ({
  name,
  message,
  code,
  stack,
  ...(place === undefined ? {} : { file: place.file, line: place.line, column: place.column }),
});
