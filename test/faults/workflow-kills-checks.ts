import { isDeepStrictEqual } from 'node:util';
import { type Effect, type EffectSink } from './effect-sink.js';

export interface StepRecord {
  readonly namespace: string;
  readonly state: string;
  readonly exports: Readonly<Record<string, unknown>> | null;
  /** Of a `for_each` whose list is known. */
  readonly items?: readonly { readonly index: number; readonly state: string }[];
}

export interface RunRecord {
  readonly id: string;
  readonly workflow_id: string;
  readonly state: string;
  readonly replay_of: string | null;
  readonly waiting: { readonly kind: string } | null;
  readonly error: unknown;
  readonly event: unknown;
  readonly steps: readonly StepRecord[];
}

export const valueOf = ({ exports }: StepRecord): unknown => exports?.['$return_value'];

type Values = Readonly<Record<string, unknown>>;

/** What a run did wrong. Empty when each outcome stayed, and each repeat of an effect had the key of the first. */
export const problemsOfRun = (run: RunRecord, sink: EffectSink, emits: readonly EmitOfRun[]): readonly string[] => {
  const values = Object.fromEntries(run.steps.map((step) => [step.namespace, valueOf(step)]));
  const effects = sink.effects.get(run.id) ?? [];
  return [
    ...(run.state === 'succeeded' ? [] : [`is ${run.state}: ${JSON.stringify(run.error)}`]),
    ...run.steps.flatMap((step) => problemsOfStep(run, step, effects)),
    ...effects.flatMap(({ step, seen }) => differing(`what step ${step} found`, seen, values)),
    ...('first' in values ? messageProblems(run.id, sink, values) : []),
    ...('last' in values ? emitProblems(emits, values) : []),
  ].map((problem) => `${run.id} ${problem}`);
};

/** An emit that a webhook got. */
export interface EmitOfRun {
  readonly webhookId: string;
  readonly seen: Values;
}

const problemsOfStep = (run: RunRecord, step: StepRecord, effects: readonly Effect[]): readonly string[] => {
  const own = effects.filter((effect) => effect.step === step.namespace);
  const value = valueOf(step);
  if (step.items === undefined) return problemsOfExecution(step.namespace, own, value);
  const listed = run.steps.find(({ namespace }) => namespace === 'list');
  const list = listed && valueOf(listed);
  const results = Array.isArray(value) ? (value as readonly unknown[]) : [];
  return [
    ...(Array.isArray(list) && list.length === results.length && list.length === step.items.length
      ? []
      : [`has ${results.length} results and ${step.items.length} items of ${JSON.stringify(list)}`]),
    ...results.flatMap((result, index) =>
      problemsOfExecution(
        `${step.namespace}[${index}]`,
        own.filter(({ item }) => item === index),
        result,
      ),
    ),
    ...(new Set(own.map(({ key }) => key)).size === new Set(own.map(({ item }) => item)).size
      ? []
      : [`has items of ${step.namespace} that share a key`]),
  ];
};

const problemsOfExecution = (name: string, own: readonly Effect[], value: unknown): readonly string[] => {
  const keys = new Map<number, Set<string>>();
  for (const { runs, key } of own) keys.set(runs, (keys.get(runs) ?? new Set()).add(key));
  return [
    ...(own.some((effect) => isDeepStrictEqual(effect.value, value))
      ? []
      : [`has a value of step ${name} that no code returned`]),
    ...[...keys]
      .filter(([, some]) => some.size > 1)
      .map(([runs, some]) => `repeated execution ${runs} of ${name} with other keys: ${[...some].join(', ')}`),
  ];
};

const messageProblems = (id: string, sink: EffectSink, values: Values): readonly string[] => {
  const messages = sink.messages.get(id) ?? [];
  const ids = new Set(messages.map(({ sendId }) => sendId));
  return [
    ...(ids.size === 1 ? [] : [`sent its message under ${ids.size} ids`]),
    ...messages.flatMap(({ value }) => differing('its message', { first: value }, values)),
  ];
};

const emitProblems = (emits: readonly EmitOfRun[], values: Values): readonly string[] => {
  const ids = new Set(emits.map(({ webhookId }) => webhookId));
  return [
    ...(ids.size === 1 ? [] : [`emitted under ${ids.size} ids`]),
    ...emits.flatMap(({ seen }) => differing('its emit', seen, values)),
  ];
};

const differing = (what: string, seen: Values, values: Values): readonly string[] =>
  Object.entries(seen)
    .filter(([name, value]) => !isDeepStrictEqual(value, values[name]))
    .map(([name, value]) => `has ${JSON.stringify(values[name])} of ${name}, and ${what} has ${JSON.stringify(value)}`);
