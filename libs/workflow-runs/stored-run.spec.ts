import { describe, expect, it } from '@jest/globals';
import { fold } from '#libs/kernel/decider.js';
import { mulberry } from '#libs/sandbox/testing/random.js';
import { type StepFlow } from '#libs/component-model/step-run.js';
import { executingNow } from './next-execution.js';
import { runDecider } from './run-decider.js';
import { type RunFact } from './run-facts.js';
import { type RunInput } from './run-inputs.js';
import { RUN_BYTES } from './run-limits.js';
import { type RunPlan } from './run-plan.js';
import { type RunState, hasEnded, outcomeOf } from './run-state.js';
import { alarmOf } from './run-steering.js';
import { changedParts } from './run-parts.js';
import { headText, runOf } from './stored-run.js';
import { arrive, cancel, fail, listed, planOf, resume, start, step, succeed } from './testing/run-samples.js';

type Random = () => number;
const pick = <T>(random: Random, of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;

const planFrom = (random: Random): RunPlan => {
  const count = Math.floor(random() * 6);
  const names = Array.from({ length: count }, (_, i) => `s${i}`);
  return planOf(
    names.map((name, i) => {
      const onError = pick(random, ['stop', 'continue', ...names.slice(i + 1)]);
      const retry = { maxRetries: 2, delaySeconds: 5, backoff: 'exponential', alsoOn: [] } as const;
      return step(name, {
        disabled: random() < 0.1,
        hasIf: random() < 0.2,
        onError,
        retry: pick(random, [null, retry]),
        ...pick(random, [{}, {}, { loop: { concurrency: 1 } }, { loop: { concurrency: 3 } }]),
      });
    }),
    { autoRetry: pick(random, [null, { notifyFirstError: true, alsoOn: ['Timeout'] }]) },
  );
};

const flowFrom = (random: Random): StepFlow | null =>
  pick<StepFlow | null>(random, [
    null,
    null,
    { kind: 'exit', reason: 'enough' },
    { kind: 'delay', ms: 50 },
    { kind: 'suspend', ms: 80 },
    { kind: 'rerun', ms: 5, context: '{"n":1}', maxRetries: 2 },
  ]);

/** Three of these exceed the limit of a run. */
const LARGE = JSON.stringify('é'.repeat(RUN_BYTES / 5));

const isToList = ({ steps }: RunPlan, { head }: RunState): boolean =>
  !head.loop && steps.find(({ namespace }) => namespace === head.position?.namespace)?.loop !== undefined;

/** An input that fits the state more often than not, or one that is late, repeated or meant for another state. */
const inputFrom = (random: Random, plan: RunPlan, state: RunState, now: number): RunInput => {
  const { head } = state;
  const executing = pick(random, [head.executions, ...executingNow(state)]);
  const execution = Math.max(0, executing - (random() < 0.15 ? 1 : 0));
  const text = random() < 0.01 ? LARGE : JSON.stringify('é'.repeat(Math.floor(random() * 300)));
  const returned = {
    exports: { $return_value: text, $summary: '"s"' },
    logs: random() < 0.3 ? [{ k: 'console.log', ts: now, msg: 'x' }] : [],
    reply: random() < 0.2 ? { status: 201, text, sentAt: pick(random, [null, now]) } : null,
  };
  const inputs: RunInput[] = [
    start(now),
    start(now),
    ...(isToList(plan, state) ? [1, 2, 3].map(() => listed(now, execution, Math.floor(random() * 9))) : []),
    succeed(now, execution, flowFrom(random), returned),
    succeed(now, execution, flowFrom(random), returned),
    fail(now, execution, pick(random, ['E_X', 'Timeout', 'ConfigurationError']), returned),
    { type: 'interrupt', now, execution, cause: pick(random, ['owner', 'process']), mayWait: random() < 0.9 },
    { type: 'alarm', now, execution, dueAt: head.wait?.resumeAt ?? now },
    { type: 'alarm', now, execution, dueAt: now - 1 },
    resume(now, pick(random, [null, execution]), text),
  ];
  if (head.position && random() < 0.1)
    inputs.push({ type: 'outcome', now, execution, mayWait: true, outcome: { kind: 'skipped' } });
  if (random() < 0.05) inputs.push(cancel(now, pick(random, [null, execution])), arrive({ now }));
  return pick(random, inputs);
};

const bytesOf = (parts: RunState['parts']): number =>
  Object.values(parts).reduce((sum, text) => sum + Buffer.byteLength(text), 0);

const failOn = (seed: number, what: string, run: RunState): never => {
  throw new Error(`seed ${seed}: ${what}: ${JSON.stringify(run.head)}`);
};

/** The state as it is read from a store. */
const flat = ({ head, parts, recent }: RunState): RunState => ({ head, parts: { ...parts, ...recent } });

/** Checks what holds after every decision. */
const check = (seed: number, plan: RunPlan, before: RunState, after: RunState, facts: readonly RunFact[]): void => {
  const { head, parts } = flat(after);
  if (head.bytes !== bytesOf(parts)) failOn(seed, `the parts have ${bytesOf(parts)} bytes`, after);
  // A resume that is kept while a step runs may pass the limit, which the outcome of the step then finds.
  if (head.bytes > RUN_BYTES + (hasEnded(after) ? 10_000 : RUN_BYTES)) failOn(seed, 'too large', after);
  if ((head.status === 'waiting') !== (alarmOf('r', after) !== null)) failOn(seed, 'alarm', after);
  if ((head.status === 'running') !== (head.stretch !== null)) failOn(seed, 'stretch', after);
  if (hasEnded(before) && facts.length > 0) failOn(seed, 'an end that changed', after);
  for (const fact of facts) {
    if (fact.type !== 'StepStarted') continue;
    const { namespace, runs, attempt } = fact.data;
    const done = outcomeOf(before, namespace);
    if (done && runs === done.runs && attempt === done.attempts) failOn(seed, `${namespace} ran again`, after);
  }
  const order = plan.steps.map(({ namespace }) => outcomeOf(after, namespace)?.state);
  const current = plan.steps.findIndex(({ namespace }) => namespace === head.position?.namespace);
  if (order.slice(current + 1).some((state) => state === 'succeeded')) failOn(seed, 'a later step ran', after);
};

describe('a run as it is stored', () => {
  it('is the same state when its facts are replayed and when head and parts are loaded, over random histories', () => {
    const ends = new Map<string, number>();
    for (let seed = 1; seed <= 200; seed++) {
      const random = mulberry(seed);
      const plan = planFrom(random);
      const decider = runDecider(plan);
      let state = decider.initialState();
      let stored = { head: headText(state), parts: {} as Record<string, string> };
      const facts: RunFact[] = [];
      for (let now = 1; now <= 60; now++) {
        const input = now === 1 ? arrive({ now }) : inputFrom(random, plan, state, now);
        const decided = decider.decide(input, state);
        const after = decided.reduce((s, fact) => decider.evolve(s, fact), state);
        check(seed, plan, state, after, decided);
        const parts = { ...stored.parts };
        for (const [name, text] of Object.entries(changedParts(state, after))) {
          if (text === null) delete parts[name];
          else parts[name] = text;
        }
        stored = { head: headText(after), parts };
        facts.push(...decided);
        // What was not loaded must be no part of the state, so the rest of the history goes on from what was.
        state = random() < 0.3 ? runOf(stored) : after;
        expect(runOf(stored)).toEqual(flat(after));
      }
      expect(flat(fold(decider, JSON.parse(JSON.stringify(facts)) as RunFact[]))).toEqual(flat(state));
      ends.set(state.head.status, (ends.get(state.head.status) ?? 0) + 1);
    }
    // The histories are worth something only if they end in every way.
    expect([...ends.keys()].sort()).toEqual(expect.arrayContaining(['cancelled', 'exited', 'failed', 'succeeded']));
  });

  it('has a head of about 0.5 KB, whatever the run stores', () => {
    const plan = planOf([step('a'.repeat(64)), step('b')]);
    const decider = runDecider(plan);
    const text = JSON.stringify('x'.repeat(100_000));
    const inputs = [
      arrive({ event: text }),
      start(1),
      succeed(2, 1, { kind: 'suspend', ms: 9 }, { exports: { text } }),
      resume(3, 1, text),
    ];
    let state = decider.initialState();
    for (const input of inputs) {
      state = decider.decide(input, state).reduce((s, fact) => decider.evolve(s, fact), state);
      expect(headText(state).length).toBeLessThan(800);
    }
  });

  it('writes no more for a step than what it adds', () => {
    const decider = runDecider(planOf([step('a'), step('b'), step('c')]));
    const states = [arrive(), start(1), succeed(2, 1), succeed(3, 2)].reduce(
      (all, input) => {
        const before = all.at(-1) ?? decider.initialState();
        return [...all, decider.decide(input, before).reduce((s, fact) => decider.evolve(s, fact), before)];
      },
      [decider.initialState()],
    );
    const [before, after] = states.slice(-2) as [RunState, RunState];
    expect(Object.keys(changedParts(before, after)).sort()).toEqual(['exports/b', 'props/b', 'step/b']);
    expect(changedParts(after, after)).toEqual({});
  });
});
