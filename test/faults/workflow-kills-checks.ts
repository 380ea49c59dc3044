import { type Effect, type EffectSink } from './effect-sink.js';

export interface StepRecord {
  readonly namespace: string;
  readonly state: string;
  readonly exports: Readonly<Record<string, unknown>> | null;
}

export interface RunRecord {
  readonly id: string;
  readonly state: string;
  readonly waiting: { readonly kind: string } | null;
  readonly error: unknown;
  readonly steps: readonly StepRecord[];
}

export const valueOf = ({ exports }: StepRecord): unknown => exports?.['$return_value'];

/** What a run did wrong. Empty when each outcome stayed, and each repeat of an effect had the key of the first. */
export const problemsOfRun = (run: RunRecord, sink: EffectSink, emits: readonly EmitOfRun[]): readonly string[] => {
  const values = Object.fromEntries(run.steps.map((step) => [step.namespace, valueOf(step)]));
  const effects = sink.effects.get(run.id) ?? [];
  return [
    ...(run.state === 'succeeded' ? [] : [`is ${run.state}: ${JSON.stringify(run.error)}`]),
    ...run.steps.flatMap((step) => problemsOfStep(step, effects)),
    ...effects.flatMap(({ step, seen }) => differing(`what step ${step} found`, seen, values)),
    ...('last' in values ? [...messageProblems(run.id, sink, values), ...emitProblems(emits, values)] : []),
  ].map((problem) => `${run.id} ${problem}`);
};

/** An emit that a webhook got. */
export interface EmitOfRun {
  readonly webhookId: string;
  readonly seen: Readonly<Record<string, number>>;
}

const problemsOfStep = (step: StepRecord, effects: readonly Effect[]): readonly string[] => {
  const own = effects.filter((effect) => effect.step === step.namespace);
  const keys = new Map<number, Set<string>>();
  for (const { runs, key } of own) keys.set(runs, (keys.get(runs) ?? new Set()).add(key));
  return [
    ...(own.some(({ value }) => value === valueOf(step))
      ? []
      : [`has a value of step ${step.namespace} that no code returned`]),
    ...[...keys]
      .filter(([, some]) => some.size > 1)
      .map(
        ([runs, some]) => `repeated execution ${runs} of ${step.namespace} with other keys: ${[...some].join(', ')}`,
      ),
  ];
};

const messageProblems = (
  id: string,
  sink: EffectSink,
  values: Readonly<Record<string, unknown>>,
): readonly string[] => {
  const messages = sink.messages.get(id) ?? [];
  const ids = new Set(messages.map(({ sendId }) => sendId));
  return [
    ...(ids.size === 1 ? [] : [`sent its message under ${ids.size} ids`]),
    ...messages.flatMap(({ value }) => differing('its message', { first: value }, values)),
  ];
};

const emitProblems = (emits: readonly EmitOfRun[], values: Readonly<Record<string, unknown>>): readonly string[] => {
  const ids = new Set(emits.map(({ webhookId }) => webhookId));
  return [
    ...(ids.size === 1 ? [] : [`emitted under ${ids.size} ids`]),
    ...emits.flatMap(({ seen }) => differing('its emit', seen, values)),
  ];
};

const differing = (
  what: string,
  seen: Readonly<Record<string, unknown>>,
  values: Readonly<Record<string, unknown>>,
): readonly string[] =>
  Object.entries(seen)
    .filter(([name, value]) => value !== values[name])
    .map(([name, value]) => `has ${String(values[name])} of ${name}, and ${what} has ${String(value)}`);
