import { type Decider, fold } from '#libs/kernel/decider.js';
import { type RunHead } from './run-state.js';

/** Settings of a workflow that decide which of its runs may start. */
export interface AdmissionSettings {
  /** False: queued runs stay, and an event that arrives is dropped. */
  readonly active: boolean;
  readonly concurrency: number | null;
  /** Whether waiting runs count in `concurrency` too. */
  readonly holdSlot: boolean;
  readonly throttle: { readonly limit: number; readonly intervalMs: number } | null;
  readonly queueSize: number;
  /** Runs that one server executes at once, whatever `concurrency` allows. A run beyond it waits without a limit. */
  readonly window: number;
}

/** A fixed window of the throttle. It begins with the first start in it. */
export interface ThrottleWindow {
  readonly startedAt: number;
  readonly count: number;
}

export interface QueuedRun {
  readonly run: string;
  /** Place of its event in the workflow's lane. */
  readonly place: number;
}

/** Which runs of a workflow wait for their turn. Only the window is stored; the heads of the runs hold the rest. */
export interface AdmissionState {
  /** Runs before their first start, in the order of their places. */
  readonly queue: readonly QueuedRun[];
  /** Runs whose wait has ended, in the order in which it did. They go ahead of the queue. */
  readonly due: readonly string[];
  readonly running: number;
  readonly waiting: number;
  readonly window: ThrottleWindow | null;
}

/** Where a run stood before it ended. */
export type RunStage = 'queue' | 'due' | 'running' | 'waiting';

/**
 * What the facts of runs mean for their workflow. The decider of a run ignores repeats, so each of these comes once. A
 * test run takes no place, so none of its facts is an input. Many runs are one input, because 100,000 may fall due or be
 * cancelled at once.
 */
export type AdmissionInput =
  | { readonly type: 'arrive'; readonly now: number; readonly run: string; readonly place: number }
  | { readonly type: 'pause'; readonly now: number; readonly count: number }
  | { readonly type: 'due'; readonly now: number; readonly runs: readonly string[] }
  | { readonly type: 'end'; readonly now: number; readonly runs: readonly string[]; readonly from: RunStage }
  /** The settings have changed, or the window of the throttle is over. */
  | { readonly type: 'review'; readonly now: number };

export type AdmissionFact =
  | { readonly type: 'RunQueued'; readonly data: QueuedRun }
  | { readonly type: 'RunRefused'; readonly data: { readonly run: string } }
  /** Must be durable before the starts that it counts. A crash in between counts them twice, and never too few. */
  | { readonly type: 'ThrottleWindowChanged'; readonly data: ThrottleWindow }
  /** These runs may start, or go on after their wait. */
  | {
      readonly type: 'RunsAdmitted';
      readonly data: { readonly runs: readonly string[]; readonly from: 'queue' | 'due' };
    }
  | { readonly type: 'RunsPaused'; readonly data: { readonly count: number } }
  | { readonly type: 'RunsDue'; readonly data: { readonly runs: readonly string[] } }
  | { readonly type: 'RunsEnded'; readonly data: { readonly runs: readonly string[]; readonly from: RunStage } };

export const emptyAdmission: AdmissionState = { queue: [], due: [], running: 0, waiting: 0, window: null };

export const admissionDecider = (
  settings: AdmissionSettings,
): Decider<AdmissionInput, AdmissionFact, AdmissionState> => {
  const decider: Decider<AdmissionInput, AdmissionFact, AdmissionState> = {
    category: 'admission',
    initialState: () => emptyAdmission,
    decide: (input, state) => {
      // What the clock alone allows comes first, so that an arrival finds the queue as it is now.
      const earlier = input.type === 'arrive' ? admitted(settings, state, input.now) : [];
      const facts = [...earlier, ...followsFrom(settings, fold(decider, earlier, state), input)];
      return [...facts, ...admitted(settings, fold(decider, facts, state), input.now)];
    },
    evolve: evolveAdmission,
  };
  return decider;
};

const followsFrom = (settings: AdmissionSettings, state: AdmissionState, input: AdmissionInput): AdmissionFact[] => {
  switch (input.type) {
    case 'arrive': {
      const { run, place } = input;
      if (!settings.active) return [];
      return state.queue.length - placesForStarts(settings, state, input.now) >= settings.queueSize
        ? [{ type: 'RunRefused', data: { run } }]
        : [{ type: 'RunQueued', data: { run, place } }];
    }
    case 'pause':
      return [{ type: 'RunsPaused', data: { count: input.count } }];
    case 'due':
      return [{ type: 'RunsDue', data: { runs: input.runs } }];
    case 'end':
      return [{ type: 'RunsEnded', data: { runs: input.runs, from: input.from } }];
    case 'review':
      return [];
  }
};

/** Runs that `concurrency` allows to execute beside those that do. */
const freePlaces = ({ concurrency, window }: AdmissionSettings, running: number, held = 0): number =>
  Math.max(0, Math.min(window - running, (concurrency ?? Infinity) - running - held));

/** A clock that went back must not keep the window open for longer than its interval. */
const windowAt = (window: ThrottleWindow | null, now: number): ThrottleWindow | null =>
  window && window.startedAt > now ? { ...window, startedAt: now } : window;

/** The window in which a start at this time counts, and how many more it allows. */
const throttledAt = (
  { throttle }: AdmissionSettings,
  window: ThrottleWindow | null,
  now: number,
): { readonly window: ThrottleWindow; readonly allows: number } => {
  const fresh: ThrottleWindow = { startedAt: now, count: 0 };
  if (!throttle) return { window: fresh, allows: Infinity };
  const current = windowAt(window, now) ?? fresh;
  const open = now < current.startedAt + throttle.intervalMs ? current : fresh;
  return { window: open, allows: Math.max(0, throttle.limit - open.count) };
};

const waitingPlaces = ({ holdSlot }: AdmissionSettings, { waiting, due }: AdmissionState): number =>
  holdSlot ? waiting + due.length : 0;

/** Queued runs that the settings let start now. What holds them back is the server's window. */
const placesForStarts = (settings: AdmissionSettings, state: AdmissionState, now: number): number => {
  const executing = state.running + (settings.holdSlot ? 0 : state.due.length);
  const places = freePlaces({ ...settings, window: Infinity }, executing, waitingPlaces(settings, state));
  return Math.min(places, throttledAt(settings, state.window, now).allows);
};

/** Admits what may execute now: first the runs that are due, then those that have not started. */
const admitted = (settings: AdmissionSettings, state: AdmissionState, now: number): AdmissionFact[] => {
  const facts: AdmissionFact[] = [];
  const again = state.due.slice(0, Math.min(state.due.length, freePlaces(settings, state.running)));
  if (again.length > 0) facts.push({ type: 'RunsAdmitted', data: { runs: again, from: 'due' } });
  if (state.queue.length === 0 || !settings.active) return facts;
  const held = Math.max(0, waitingPlaces(settings, state) - again.length);
  const places = freePlaces(settings, state.running + again.length, held);
  const { window, allows } = throttledAt(settings, state.window, now);
  const first = state.queue.slice(0, Math.min(state.queue.length, places, allows));
  const after = settings.throttle && { startedAt: window.startedAt, count: window.count + first.length };
  if (after && (first.length > 0 || after.startedAt < (state.window?.startedAt ?? 0)))
    facts.push({ type: 'ThrottleWindowChanged', data: after });
  if (first.length > 0)
    facts.push({ type: 'RunsAdmitted', data: { runs: first.map(({ run }) => run), from: 'queue' } });
  return facts;
};

/** When the throttle lets the next queued run start. Null when it is not the throttle that holds one back. */
export const nextReviewAt = (settings: AdmissionSettings, state: AdmissionState, now: number): number | null => {
  const { throttle, active } = settings;
  if (!throttle || throttle.limit === 0 || !active || state.queue.length === 0) return null;
  if (freePlaces(settings, state.running, waitingPlaces(settings, state)) === 0) return null;
  const { window, allows } = throttledAt(settings, state.window, now);
  return allows > 0 ? now : window.startedAt + throttle.intervalMs;
};

const evolveAdmission = (state: AdmissionState, fact: AdmissionFact): AdmissionState => {
  switch (fact.type) {
    case 'RunQueued':
      return { ...state, queue: inPlace(state.queue, fact.data) };
    case 'RunRefused':
      return state;
    case 'ThrottleWindowChanged':
      return { ...state, window: fact.data };
    case 'RunsAdmitted': {
      const { runs, from } = fact.data;
      const running = state.running + runs.length;
      return { ...state, running, [from]: state[from].slice(runs.length) };
    }
    case 'RunsPaused': {
      const { count } = fact.data;
      return { ...state, running: state.running - count, waiting: state.waiting + count };
    }
    case 'RunsDue': {
      const { runs } = fact.data;
      return { ...state, waiting: state.waiting - runs.length, due: [...state.due, ...runs] };
    }
    case 'RunsEnded': {
      const { runs, from } = fact.data;
      if (from === 'running' || from === 'waiting') return { ...state, [from]: state[from] - runs.length };
      const gone = new Set(runs);
      return from === 'due'
        ? { ...state, due: state.due.filter((run) => !gone.has(run)) }
        : { ...state, queue: state.queue.filter(({ run }) => !gone.has(run)) };
    }
  }
};

/** Adds a run. After a crash an earlier event may come again once a later one has its run, and goes ahead of that. */
const inPlace = (queue: readonly QueuedRun[], added: QueuedRun): readonly QueuedRun[] => {
  const index = queue.findLastIndex(({ place }) => place < added.place) + 1;
  return queue.toSpliced(index, 0, added);
};

/** The state as a new owner of the workflow reads it from what is stored. The heads are those of all unfinished runs. */
export const loadAdmission = (
  window: ThrottleWindow | null,
  heads: Iterable<readonly [run: string, head: Pick<RunHead, 'status' | 'place' | 'position' | 'resumed'>]>,
): AdmissionState => {
  const queue: QueuedRun[] = [];
  const due: { readonly run: string; readonly at: number; readonly place: number }[] = [];
  let running = 0;
  let waiting = 0;
  for (const [run, { status, place, position, resumed }] of heads) {
    // A run outside of the queue, such as a test.
    if (place === null) continue;
    if (status === 'running') running++;
    else if (status === 'waiting') waiting++;
    else if (status !== 'queued') continue;
    else if (position) due.push({ run, place, at: resumed?.at ?? 0 });
    else queue.push({ run, place });
  }
  queue.sort((a, b) => a.place - b.place);
  due.sort((a, b) => a.at - b.at || a.place - b.place);
  return { queue, due: due.map(({ run }) => run), running, waiting, window };
};
