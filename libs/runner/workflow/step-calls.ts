import { type CallOutcome } from '#libs/component-model/component-call.js';
import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { type UserError, WARNING } from '#libs/component-model/run-output.js';
import { type StepAnswer, type StepFacts, type StepSend } from '#libs/component-model/step-run.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type Clock } from '#libs/kernel/clock.js';
import { shownId } from '#libs/kernel/ids.js';
import { type CallRequest, type ComponentCaller, userError } from '#libs/sandbox/index.js';
import { type PlannedProp, type SourceDefinition } from '#libs/sources/published.js';
import { type Message, messageText } from '#libs/stream-log/message-records.js';
import { objectMessage } from '#libs/stream-log/object-message.js';
import { RECORD_BYTES } from '#libs/stream-log/record-limits.js';
import { NO_RESULT } from '#libs/workflow-runs/finish-step.js';
import { type StepResult } from '#libs/workflow-runs/run-inputs.js';
import { type InstallPackages } from '../packages-beside.js';
import { secretsOf } from '../outcome/prop-secrets.js';
import { type PropBinder } from '../runner-ports.js';
import { SecretMask } from '../outcome/secret-mask.js';
import { LineBatches } from './line-batches.js';
import { type StepCalls, type StepEnd, type StepRequest } from './workflow-ports.js';

/** What expressions of a step see. All texts are JSON. */
export interface StepScope {
  readonly steps: Readonly<Record<string, string>>;
  readonly env: string;
  /** Of an item of a `for_each`. */
  readonly item?: string;
  readonly index?: number;
}

type Evaluated<T> =
  | { readonly ok: true; readonly json: T; readonly usedMs: number }
  | { readonly ok: false; readonly error: UserError; readonly usedMs: number };

/** Expressions of one workspace. */
export interface StepExpressions {
  evaluate(
    values: string,
    scope: StepScope,
    types: readonly Pick<ConfigurableProp, 'name' | 'type' | 'optional' | 'default'>[],
    leftMs?: number,
  ): Promise<Evaluated<string>>;
  evaluateOne(text: string, scope: StepScope, place: string, leftMs?: number): Promise<Evaluated<string | undefined>>;
}

export interface StepCallsDependencies {
  readonly binder: PropBinder;
  readonly blobs: Pick<BlobStore, 'fileOf'>;
  readonly packages: InstallPackages;
  readonly caller: ComponentCaller;
  /** Expressions never share a process with those of another workspace. */
  readonly expressionsOf: (workspaceId: string) => StepExpressions;
  readonly variables: {
    variablesOf(workspaceId: string): Promise<Readonly<Record<string, string>>>;
  };
  /** What the message worker can send. */
  readonly outgoing: OutgoingMessages;
  /** Largest heap of a process, whatever a workflow asks for. */
  readonly mostMemoryMb: number;
  readonly clock: Clock;
}

export interface OutgoingMessages {
  /** Whether the server has a mail server. */
  readonly email: boolean;
  /** Whether the operator opens the bucket to the workspace. */
  readonly opensBucket: (bucket: string, workspaceId: string) => boolean;
}

/** Time for the expressions of a step together. */
const EXPRESSIONS_MS = 1_000;
const MASK = '********';

/** Executes steps: evaluates their condition and props, and calls their code in a jailed process. */
export const stepCalls = (deps: StepCallsDependencies): StepCalls => ({
  async call(request): Promise<StepEnd | 'interrupted'> {
    const { step, steps, execution, item, workspaceId } = request;
    const variables = await deps.variables.variablesOf(workspaceId);
    // The variables may have megabytes, and most steps have no expression.
    const scope = (): StepScope => ({
      steps,
      env: JSON.stringify(variables),
      ...(item ? { item: item.text, index: item.index } : {}),
    });
    const expressions = deps.expressionsOf(workspaceId);
    let leftMs = EXPRESSIONS_MS;
    if (step.if !== null && execution.evaluatesIf) {
      const condition = await expressions.evaluateOne(step.if, scope(), 'if');
      if (!condition.ok) return failedBefore(condition.error);
      if (isFalsy(condition.json)) return { outcome: { kind: 'skipped' }, sends: [] };
      leftMs = Math.max(1, leftMs - condition.usedMs);
    }
    if (step.loop && !item) return listOf(await expressions.evaluateOne(step.loop.list, scope(), LIST, leftMs));
    const open = await openProps(request, expressions, scope, leftMs);
    return 'error' in open
      ? failedBefore(open.error)
      : callWith(deps, request, { ...step.definition, props: [...step.definition.props, ...open.props] }, variables);
  },
});

/** Place of the list in messages of errors. */
const LIST = 'for_each';

/** The list of a loop, whose items are executions of their own. */
const listOf = (evaluated: Evaluated<string | undefined>): StepEnd => {
  if (!evaluated.ok) return failedBefore(evaluated.error);
  const { json = 'null' } = evaluated;
  const list: unknown = JSON.parse(json);
  if (Array.isArray(list)) return { outcome: { kind: 'listed', list: json, count: list.length }, sends: [] };
  const got = list === null ? 'null or undefined' : `a value of type ${typeof list}`;
  return failedBefore(userError('ExpressionError', `${LIST}: the expression must give a list; got ${got}`));
};

/** A step whose code did not run. */
const failedBefore = (error: UserError): StepEnd => ({
  outcome: { kind: 'failed', result: NO_RESULT, error },
  sends: [],
});

const isFalsy = (json: string | undefined): boolean => json === undefined || !JSON.parse(json);

/** Props whose values hold expressions, planned like the literal ones. */
const openProps = async (
  { step: { open, propTypes } }: StepRequest,
  expressions: StepExpressions,
  scope: () => StepScope,
  leftMs: number,
): Promise<{ readonly props: readonly PlannedProp[] } | { readonly error: UserError }> => {
  if (Object.keys(open).length === 0) return { props: [] };
  const types = propTypes.filter(({ name }) => Object.hasOwn(open, name));
  const evaluated = await expressions.evaluate(JSON.stringify(open), scope(), types, leftMs);
  if (!evaluated.ok) return { error: evaluated.error };
  const values = new Map(Object.entries(JSON.parse(evaluated.json) as Readonly<Record<string, unknown>>));
  return {
    props: types.flatMap(({ name, type }) => (values.has(name) ? [plannedOf(name, type, values.get(name))] : [])),
  };
};

const plannedOf = (prop: string, type: string, value: unknown): PlannedProp => {
  switch (type) {
    case 'data_store':
      return { kind: 'store', prop, value };
    case 'http_request':
      return { kind: 'request', prop, value };
    default:
      return { kind: 'value', prop, value };
  }
};

const callWith = async (
  { binder, blobs, packages: install, caller, outgoing, mostMemoryMb, clock }: StepCallsDependencies,
  request: StepRequest,
  definition: SourceDefinition,
  variables: Readonly<Record<string, string>>,
): Promise<StepEnd | 'interrupted'> => {
  const { workspaceId, execution, signal } = request;
  const { packages } = definition;
  await binder.freshen(workspaceId, definition);
  const props = await binder.bind(workspaceId, definition);
  const secrets = [...secretsOf(definition, props), ...Object.values(variables)];
  const mask = new SecretMask(secrets);
  const batches = new LineBatches((from, lines) =>
    request.onLines(
      from,
      lines.map((line) => ({ ...line, msg: mask.text(line.msg) })),
    ),
  );
  const memoryMb = Math.min(request.memoryMb, mostMemoryMb);
  let sentAt: number | null = null;
  const calling = caller.call({
    workspaceId,
    ...processOf(request, definition, variables, memoryMb),
    memoryMb,
    bundle: { hash: definition.bundleHash, file: () => blobs.fileOf(definition.bundleHash) },
    ...(packages === undefined ? {} : { packages: () => install(workspaceId, packages) }),
    props,
    secrets,
    call: { kind: 'step', facts: factsOf(request) },
    timeoutMs: Math.max(1, execution.deadline - clock.now()),
    onReply: (reply) => {
      sentAt = clock.now();
      request.onReply(reply);
    },
    onTrigger: request.onTrigger,
    onLine: (line) => batches.add(line),
    signal,
  });
  const outcome = await calling.finally(() => batches.end());
  if (outcome.interrupted) return 'interrupted';
  const unsent = (outcome.step?.sends ?? []).map((send) => whyNotSent(send, outgoing, workspaceId));
  return endOf(outcome, { unsent, props: shownProps(definition, mask), now: clock.now(), sentAt });
};

/** Texts of `steps`, which may have 6 MB, of calls that wait for their process. The items of a loop share one. */
const joinedTexts = new WeakMap<StepRequest['steps'], string>();

const joined = (steps: StepRequest['steps']): string => {
  const known = joinedTexts.get(steps);
  if (known !== undefined) return known;
  const members = Object.entries(steps).map(([namespace, text]) => `${JSON.stringify(namespace)}:${text}`);
  const text = `{${members.join()}}`;
  joinedTexts.set(steps, text);
  return text;
};

const factsOf = (request: StepRequest): StepFacts => {
  const { context, steps, urls, stretchMs, mostMs, hasCaller, test, item, db } = request;
  return {
    context,
    steps: joined(steps),
    urls,
    stretchMs,
    mostMs,
    hasCaller,
    test,
    ...(item === undefined ? {} : { item }),
    ...(db === undefined ? {} : { db }),
  };
};

/**
 * The code steps of a workflow share a process with the variables. An action has its own without them. A change of the heap
 * takes new processes, and the old ones end when they are idle.
 */
const processOf = (
  { workflowId, step }: StepRequest,
  { bundleHash, packages }: SourceDefinition,
  env: Readonly<Record<string, string>>,
  memoryMb: number,
): Pick<CallRequest, 'key' | 'shared'> => {
  const lock = packages?.lockHash ?? null;
  return step.kind === 'code'
    ? { shared: { name: JSON.stringify([workflowId, lock, memoryMb]), env } }
    : { key: JSON.stringify(['step', workflowId, bundleHash, lock, memoryMb]) };
};

/** The props as the history shows them. */
const shownProps = ({ props }: SourceDefinition, mask: SecretMask): string => {
  const shown = new Map<string, unknown>();
  for (const planned of props) {
    if (planned.kind === 'secret') shown.set(planned.prop, MASK);
    else if (
      planned.kind === 'value' ||
      planned.kind === 'store' ||
      planned.kind === 'request' ||
      planned.kind === 'app'
    )
      shown.set(planned.prop, planned.value ?? null);
  }
  return shown.size === 0 ? '{}' : mask.json(JSON.stringify(Object.fromEntries(shown)));
};

interface CallEnd {
  /** For each message why it does not go out. */
  readonly unsent: readonly (string | undefined)[];
  readonly props: string;
  readonly now: number;
  readonly sentAt: number | null;
}

const endOf = (
  { status, step = NO_ANSWER, error, logs }: CallOutcome,
  { unsent, props, now, sentAt }: CallEnd,
): StepEnd => {
  const { exports, flow, sends, triggers = [], reply, refreshedAt, dbChanges } = step;
  const result: StepResult = {
    exports,
    props,
    logs: [...logs, ...warningsOf(sends, unsent).map((msg) => ({ k: WARNING, ts: now, msg }))],
    sends: sends.map((send, index) => {
      const why = unsent[index];
      return { kind: send.kind, bytes: JSON.stringify(send).length, ...(why === undefined ? {} : { error: why }) };
    }),
    reply: reply && { status: reply.status, text: JSON.stringify(reply), sentAt },
    ...(refreshedAt === undefined ? {} : { refreshedAt }),
  };
  if (status === 'ok' && !error) {
    const changed = dbChanges === undefined ? {} : { dbChanges };
    return { outcome: { kind: 'succeeded', result, flow }, sends, triggers, ...changed };
  }
  const failure = error ?? userError('ProcessExited', 'the step ended without an answer');
  return { outcome: { kind: 'failed', result, error: failure }, sends };
};

const NO_ANSWER: StepAnswer = { exports: {}, flow: null, sends: [], reply: null };

/** Why a message does not go out. Undefined for one that does. */
const whyNotSent = (
  send: StepSend,
  { email, opensBucket }: OutgoingMessages,
  workspaceId: string,
): string | undefined => {
  switch (send.kind) {
    case 'emit':
    case 'sse':
      return undefined;
    case 's3':
      if (!opensBucket(send.bucket, workspaceId))
        return `the bucket ${JSON.stringify(shownId(send.bucket))} is not open to this workspace: the operator of the server must open it in SLUICE_S3`;
      return tooLong(objectMessage(send, '', 0));
    case 'email':
      if (!email) return 'this server has no mail server: its operator must set SLUICE_SMTP_URL';
      return tooLong(send);
    case 'http':
      return tooLong(send);
  }
};

const tooLong = (message: Message): string | undefined =>
  messageText(message) === undefined ? `it exceeds ${RECORD_BYTES} bytes as JSON` : undefined;

/** One line for each kind of message and reason. */
const warningsOf = (sends: readonly StepSend[], unsent: readonly (string | undefined)[]): readonly string[] => {
  const counts = new Map<string, number>();
  for (const [index, { kind }] of sends.entries()) {
    const why = unsent[index];
    const line = `$.send.${kind}: not sent, because ${why}`;
    if (why !== undefined) counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return [...counts].map(([line, count]) => (count === 1 ? line : `${line} (${count} messages)`));
};
