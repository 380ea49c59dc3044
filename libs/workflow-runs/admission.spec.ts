import { describe, expect, it } from '@jest/globals';
import { given } from '#libs/kernel/testing/decider-specification.js';
import { mulberry } from '#libs/sandbox/testing/random.js';
import {
  type AdmissionFact,
  type AdmissionInput,
  type AdmissionSettings,
  type AdmissionState,
  type ThrottleWindow,
  admissionDecider,
  loadAdmission,
  nextReviewAt,
} from './admission.js';
import { type RunHead } from './run-state.js';

const settings = (changed: Partial<AdmissionSettings> = {}): AdmissionSettings => ({
  active: true,
  concurrency: null,
  holdSlot: false,
  throttle: null,
  queueSize: 100,
  window: 1_000,
  ...changed,
});
const arrive = (run: string, place: number, now = 0): AdmissionInput => ({ type: 'arrive', now, run, place });
const end = (run: string, now = 0): AdmissionInput => ({ type: 'end', now, runs: [run], from: 'running' });

const stateAfter = (of: AdmissionSettings, ...inputs: AdmissionInput[]): AdmissionState => {
  const decider = admissionDecider(of);
  return inputs.reduce<AdmissionState>(
    (state, input) => decider.decide(input, state).reduce((s, fact) => decider.evolve(s, fact), state),
    decider.initialState(),
  );
};
const started = (facts: readonly AdmissionFact[]): string[] =>
  facts.flatMap((fact) => (fact.type === 'RunsAdmitted' ? fact.data.runs : []));
const starts = (of: AdmissionSettings, before: AdmissionInput[], input: AdmissionInput): string[] =>
  started(admissionDecider(of).decide(input, stateAfter(of, ...before)));

describe('a run that arrives', () => {
  it('starts at once when nothing limits it', () => {
    given(admissionDecider(settings()))
      .when(arrive('r1', 7))
      .then(
        { type: 'RunQueued', data: { run: 'r1', place: 7 } },
        { type: 'RunsAdmitted', data: { runs: ['r1'], from: 'queue' } },
      );
  });

  it('is queued without a free place, and refused beyond the size of the queue', () => {
    const one = settings({ concurrency: 1, queueSize: 1 });
    const before = [arrive('r1', 1), arrive('r2', 2)];
    expect(stateAfter(one, ...before)).toMatchObject({ running: 1, queue: [{ run: 'r2', place: 2 }] });
    expect(admissionDecider(one).decide(arrive('r3', 3), stateAfter(one, ...before))).toEqual([
      { type: 'RunRefused', data: { run: 'r3' } },
    ]);
    expect(starts(one, before, end('r1'))).toEqual(['r2']);
  });

  it('does not count towards the queue while only the server holds it back', () => {
    const three = settings({ concurrency: 3, queueSize: 1, window: 1 });
    const before = [1, 2, 3, 4].map((n) => arrive(`r${n}`, n));
    expect(stateAfter(three, ...before)).toMatchObject({ running: 1, queue: { length: 3 } });
    const refused = [{ type: 'RunRefused', data: { run: 'r5' } }];
    expect(admissionDecider(three).decide(arrive('r5', 5), stateAfter(three, ...before))).toEqual(refused);

    const throttled = settings({ throttle: { limit: 3, intervalMs: 60_000 }, queueSize: 1, window: 1 });
    expect(stateAfter(throttled, ...before)).toMatchObject({ running: 1, queue: { length: 3 } });
    expect(admissionDecider(throttled).decide(arrive('r5', 5), stateAfter(throttled, ...before))).toEqual(refused);
  });

  it('finds room in a queue whose first may start by now', () => {
    const slow = settings({ throttle: { limit: 1, intervalMs: 60 }, queueSize: 1 });
    const before = [arrive('r1', 1), arrive('r2', 2)];
    expect(starts(slow, before, arrive('r3', 3, 60))).toEqual(['r2']);
    expect(stateAfter(slow, ...before, arrive('r3', 3, 60)).queue).toEqual([{ run: 'r3', place: 3 }]);
  });

  it('goes ahead of a later event whose run was stored before a crash', () => {
    const one = settings({ concurrency: 1 });
    const before = [arrive('r1', 1), arrive('r3', 3), arrive('r2', 2)];
    expect(stateAfter(one, ...before).queue.map(({ run }) => run)).toEqual(['r2', 'r3']);
  });

  it('is dropped by a workflow that is not active, whose queue starts on activation', () => {
    const one = settings({ concurrency: 1 });
    const queued = [arrive('r1', 1), arrive('r2', 2), arrive('r3', 3)];
    const off = admissionDecider({ ...one, active: false });
    expect(off.decide(arrive('r4', 4), stateAfter(one, ...queued))).toEqual([]);
    expect(started(off.decide(end('r1'), stateAfter(one, ...queued)))).toEqual([]);
    expect(starts(settings(), queued.slice(0, 1), { type: 'review', now: 1 })).toEqual([]);
    expect(
      started(admissionDecider(one).decide({ type: 'review', now: 1 }, { ...stateAfter(one, ...queued), running: 0 })),
    ).toEqual(['r2']);
  });
});

describe('concurrency', () => {
  const pause: AdmissionInput = { type: 'pause', now: 1, count: 1 };
  const due: AdmissionInput = { type: 'due', now: 2, runs: ['r1'] };

  it('counts runs that execute, so a wait lets the next one start', () => {
    expect(starts(settings({ concurrency: 1 }), [arrive('r1', 1), arrive('r2', 2)], pause)).toEqual(['r2']);
  });

  it('counts waiting runs too with hold_slot', () => {
    const holds = settings({ concurrency: 1, holdSlot: true });
    expect(starts(holds, [arrive('r1', 1), arrive('r2', 2)], pause)).toEqual([]);
    expect(starts(holds, [arrive('r1', 1), arrive('r2', 2), pause], due)).toEqual(['r1']);
    const cancelled: AdmissionInput = { type: 'end', now: 2, runs: ['r1'], from: 'waiting' };
    expect(starts(holds, [arrive('r1', 1), arrive('r2', 2), pause], cancelled)).toEqual(['r2']);
  });

  it('lets runs that are due go ahead of those that have not started', () => {
    const before = [arrive('r1', 1), arrive('r2', 2), arrive('r3', 3), pause, due];
    expect(stateAfter(settings({ concurrency: 1 }), ...before)).toMatchObject({ running: 1, due: ['r1'] });
    expect(starts(settings({ concurrency: 1 }), before, end('r2'))).toEqual(['r1']);
  });

  it('acts on the queue at once when it changes', () => {
    const before = [1, 2, 3, 4].map((n) => arrive(`r${n}`, n));
    const state = stateAfter(settings({ concurrency: 1 }), ...before);
    const review: AdmissionInput = { type: 'review', now: 1 };
    expect(started(admissionDecider(settings({ concurrency: 3 })).decide(review, state))).toEqual(['r2', 'r3']);
    expect(started(admissionDecider(settings()).decide(review, state))).toEqual(['r2', 'r3', 'r4']);
  });

  it('forgets a run that is cancelled in the queue or while it is due', () => {
    const one = settings({ concurrency: 1 });
    const queued = [arrive('r1', 1), arrive('r2', 2), arrive('r3', 3)];
    const gone: AdmissionInput = { type: 'end', now: 1, runs: ['r2'], from: 'queue' };
    expect(starts(one, [...queued, gone], end('r1'))).toEqual(['r3']);
    const dueGone: AdmissionInput = { type: 'end', now: 3, runs: ['r1'], from: 'due' };
    expect(starts(one, [...queued, pause, due, dueGone], end('r2'))).toEqual(['r3']);
  });
});

describe('throttle', () => {
  const two = settings({ throttle: { limit: 2, intervalMs: 60_000 } });

  it('opens a window with the first start in it, and counts before the start', () => {
    given(admissionDecider(two))
      .when(arrive('r1', 1, 500))
      .then(
        { type: 'RunQueued', data: { run: 'r1', place: 1 } },
        { type: 'ThrottleWindowChanged', data: { startedAt: 500, count: 1 } },
        { type: 'RunsAdmitted', data: { runs: ['r1'], from: 'queue' } },
      );
    const before = [arrive('r1', 1, 500), arrive('r2', 2, 59_000), arrive('r3', 3, 59_001)];
    expect(stateAfter(two, ...before).queue).toHaveLength(1);
    expect(nextReviewAt(two, stateAfter(two, ...before), 59_001)).toBe(60_500);
    expect(starts(two, before, { type: 'review', now: 60_499 })).toEqual([]);
    expect(starts(two, before, { type: 'review', now: 60_500 })).toEqual(['r3']);
  });

  it('does not count runs that go on', () => {
    const before: AdmissionInput[] = [arrive('r1', 1), { type: 'pause', now: 1, count: 1 }, arrive('r2', 2)];
    expect(starts(two, before, { type: 'due', now: 3, runs: ['r1'] })).toEqual(['r1']);
    expect(stateAfter(two, ...before, { type: 'due', now: 3, runs: ['r1'] }).window?.count).toBe(2);
  });

  it('pauses with a limit of 0, and holds nothing once it is null', () => {
    const none = settings({ throttle: { limit: 0, intervalMs: 1 } });
    expect(starts(none, [], arrive('r1', 1))).toEqual([]);
    expect(nextReviewAt(none, stateAfter(none, arrive('r1', 1)), 9)).toBeNull();
    const review: AdmissionInput = { type: 'review', now: 9 };
    expect(started(admissionDecider(settings()).decide(review, stateAfter(none, arrive('r1', 1))))).toEqual(['r1']);
  });

  it('keeps its window open no longer when the clock goes back', () => {
    const before = [arrive('r1', 1, 1e12), arrive('r2', 2, 1e12), arrive('r3', 3, 5)];
    expect(stateAfter(two, ...before).window).toEqual({ startedAt: 5, count: 2 });
    expect(starts(two, before, { type: 'review', now: 60_005 })).toEqual(['r3']);
  });

  it('is not what holds a run back that has no free place', () => {
    const both = settings({ concurrency: 1, throttle: { limit: 1, intervalMs: 60 } });
    const before = [arrive('r1', 1), arrive('r2', 2)];
    expect(nextReviewAt(both, stateAfter(both, ...before), 1)).toBeNull();
    expect(nextReviewAt(both, stateAfter(both, ...before, end('r1', 1)), 1)).toBe(60);
  });
});

/** A workflow as its store has it: the window, and one head for each unfinished run. */
type Head = Pick<RunHead, 'status' | 'place' | 'position' | 'resumed'>;
const POSITION = { namespace: 'a', runs: 1, attempt: 1, startedAt: 0, interruptions: 0 };

class SimulatedWorkflow {
  readonly heads = new Map<string, Head>();
  readonly firstStarts: { readonly place: number; readonly at: number }[] = [];
  window: ThrottleWindow | null = null;
  state: AdmissionState;

  constructor(readonly settings: AdmissionSettings) {
    this.state = admissionDecider(settings).initialState();
  }

  /** Decides, and stores what follows. A crash may come between the window and the starts that it counts. */
  apply(input: AdmissionInput, crashes: boolean): void {
    const decider = admissionDecider(this.settings);
    const facts = decider.decide(input, this.state);
    this.state = facts.reduce((state, fact) => decider.evolve(state, fact), this.state);
    for (const fact of facts) {
      if (fact.type === 'ThrottleWindowChanged') this.window = fact.data;
      if (fact.type === 'RunQueued') this.put(fact.data.run, { status: 'queued', place: fact.data.place });
      if (fact.type === 'RunsAdmitted' && !crashes) for (const run of fact.data.runs) this.start(run, input.now);
    }
    if (crashes) this.reload();
  }

  private start(run: string, now: number): void {
    const head = this.heads.get(run);
    if (!head?.position) this.firstStarts.push({ place: head?.place ?? -1, at: now });
    this.put(run, { status: 'running', position: POSITION });
  }

  put(run: string, changed: Partial<Head>): void {
    const before = this.heads.get(run) ?? { status: 'queued', place: null, position: null, resumed: null };
    this.heads.set(run, { ...before, ...changed });
  }

  reload(): void {
    this.state = loadAdmission(this.window, this.heads);
  }

  runsThat(status: RunHead['status'], isStarted = true): string[] {
    return [...this.heads]
      .filter(([, head]) => head.status === status && (head.position !== null) === isStarted)
      .map(([run]) => run);
  }
}

const randomInput = (random: () => number, workflow: SimulatedWorkflow, now: number): AdmissionInput => {
  const pick = (runs: readonly string[]): string | undefined => runs[Math.floor(random() * runs.length)];
  const kind = random();
  const run = pick(kind < 0.6 ? workflow.runsThat('running') : workflow.runsThat('waiting'));
  if (run === undefined || kind < 0.35) return { type: 'arrive', now, run: `r${now}`, place: now };
  if (kind < 0.48) {
    workflow.heads.delete(run);
    return { type: 'end', now, runs: [run], from: 'running' };
  }
  if (kind < 0.6) {
    workflow.put(run, { status: 'waiting' });
    return { type: 'pause', now, count: 1 };
  }
  if (kind < 0.7) {
    workflow.heads.delete(run);
    return { type: 'end', now, runs: [run], from: 'waiting' };
  }
  workflow.put(run, { status: 'queued', resumed: { namespace: 'a', kind: 'delay', at: now } });
  return { type: 'due', now, runs: [run] };
};

const randomSettings = (random: () => number): AdmissionSettings =>
  settings({
    concurrency: random() < 0.7 ? 1 + Math.floor(random() * 4) : null,
    holdSlot: random() < 0.4,
    throttle:
      random() < 0.6 ? { limit: 1 + Math.floor(random() * 4), intervalMs: 5 + Math.floor(random() * 40) } : null,
    queueSize: 1 + Math.floor(random() * 12),
  });

/** Windows as the specification has them: each begins with the first start after the one before it. */
const mostInAWindow = (starts: readonly { readonly at: number }[], intervalMs: number): number => {
  let begun = -Infinity;
  let count = 0;
  let most = 0;
  for (const { at } of starts) {
    if (at >= begun + intervalMs) [begun, count] = [at, 0];
    most = Math.max(most, ++count);
  }
  return most;
};

describe('over random inputs, restarts and crashes', () => {
  it.each(Array.from({ length: 40 }, (_, i) => i + 1))(
    'limits and order hold, and nothing waits without a reason (seed %i)',
    (seed) => {
      const random = mulberry(seed);
      const workflow = new SimulatedWorkflow(randomSettings(random));
      const { concurrency, holdSlot, throttle, queueSize } = workflow.settings;
      const crashing = random() < 0.5;
      for (let now = 1; now <= 200; now++) {
        const crashes = crashing && random() < 0.05;
        workflow.apply(randomInput(random, workflow, now), crashes);
        if (crashes) workflow.apply({ type: 'review', now }, false);
        const running = workflow.runsThat('running').length;
        const waiting = workflow.runsThat('waiting').length;
        const due = workflow.runsThat('queued').length;
        const queue = workflow.runsThat('queued', false).length;
        // A new owner reads from the store exactly what this one knows.
        const known = workflow.state;
        workflow.reload();
        expect(workflow.state).toEqual(known);
        expect(running + (holdSlot ? waiting + due : 0)).toBeLessThanOrEqual(concurrency ?? Infinity);
        expect(queue).toBeLessThanOrEqual(concurrency === null && !throttle ? 0 : queueSize);
        if (due > 0) expect(running).toBe(concurrency);
        if (queue > 0) {
          const hasPlace = concurrency === null || running + (holdSlot ? waiting : 0) + due < concurrency;
          const reviewAt = nextReviewAt(workflow.settings, workflow.state, now);
          if (hasPlace) expect(reviewAt).toBeGreaterThan(now);
          else expect(reviewAt).toBeNull();
          if (reviewAt === now + 1) workflow.apply({ type: 'review', now: now + 1 }, false);
        }
      }
      const places = workflow.firstStarts.map(({ place }) => place);
      expect(places).toEqual([...places].sort((a, b) => a - b));
      expect(places.length).toBeGreaterThan(5);
      // A start counted twice only makes the window fuller, so the limit holds over crashes too.
      if (throttle)
        expect(mostInAWindow(workflow.firstStarts, throttle.intervalMs)).toBeLessThanOrEqual(throttle.limit);
    },
  );
});
