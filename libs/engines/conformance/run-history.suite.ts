import { expect, it } from '@jest/globals';
import { UnknownCursor } from '#libs/kernel/read-model-store.js';
import { type RunFilter, type RunHistory, type RunQuery } from '#libs/workflow-history/run-history.js';
import { type RunChange } from '#libs/workflow-runs/run-change.js';
import { type RunOrigin } from '#libs/workflow-runs/run-facts.js';
import { type RunInput, type StepResult } from '#libs/workflow-runs/run-inputs.js';
import { type RunState } from '#libs/workflow-runs/run-state.js';
import { ab, changesOf } from '#libs/workflow-runs/testing/run-changes.js';
import * as samples from '#libs/workflow-runs/testing/run-samples.js';
import { type MakeHarness, type Part } from './harness.js';
import { sendsPart } from './run-history-sends.suite.js';
import { statsPart } from './run-history-stats.suite.js';
import { runParts } from './run-parts.js';

export const RUN_HISTORY_PARTS = [
  'changes',
  'sends',
  'outlines',
  'pages',
  'stats',
  'filters',
  'words',
  'ids',
  'surplus',
  'removal',
  'restart',
] as const;

export const describeRunHistory = (name: string, make: MakeHarness<RunHistory>): void =>
  runParts(`RunHistory: ${name}`, RUN_HISTORY_PARTS, parts, make);

const { start, succeed, fail } = samples;

const succeeded = (of: Partial<RunOrigin>): RunChange[] =>
  changesOf(of, start(1_001), succeed(1_002, 1), succeed(1_003, 2));
const failed = (of: Partial<RunOrigin>): RunChange[] => changesOf(of, start(1_001), fail(1_002, 1, 'E_X'));
const stateAfter = (...inputs: RunInput[]): RunState => samples.stateOf(ab, samples.arrive(), ...inputs);

const P1 = { of: { workflowId: 'p_1' } };
const idsIn = async (store: RunHistory, query: Partial<RunQuery> = {}): Promise<string[]> =>
  (await store.page({ ...P1, limit: 100, ...query })).runs.map(({ id }) => id);

const textsOf = async (store: RunHistory): Promise<RunState['parts']> =>
  (await store.whole('run_1'))?.state.parts ?? {};

/** Arrives at 1,000, 2,000 and so on. */
const arrivals = (count: number, of: Partial<RunOrigin> = {}): RunChange[] =>
  Array.from({ length: count }, (_, n) => changesOf({ id: `run_${n + 1}`, arrivedAt: 1_000 * (n + 1), ...of })).flat();

const parts: Record<(typeof RUN_HISTORY_PARTS)[number], Part<RunHistory>> = {
  changes: (store) => {
    it('make the state that the run has', async () => {
      const changes = succeeded({});
      for (const change of changes) await store().apply([change]);
      const whole = await store().whole('run_1');
      expect(whole).toMatchObject({ id: 'run_1', workflowId: 'p_1', workspaceId: 'o_1' });
      expect(whole?.state).toEqual(stateAfter(start(1_001), succeed(1_002, 1), succeed(1_003, 2)));
      const found = await store().find('run_1');
      expect(found?.state.head).toEqual(whole?.state.head);
      expect(Object.keys(found?.state.parts ?? {})).toEqual(['origin']);
    });
    it('of several runs come together, and each has its own', async () => {
      const [one, other] = [succeeded({ id: 'run_1' }), failed({ id: 'run_2', arrivedAt: 2_000 })];
      await store().apply(
        [one[0], other[0], one[1], other[1], other[2], one[2], one[3]].filter((each) => each !== undefined),
      );
      const states = (await store().page({ ...P1, limit: 9 })).runs.map(({ id, state }) => [id, state.head.status]);
      expect(states).toEqual([
        ['run_2', 'failed'],
        ['run_1', 'succeeded'],
      ]);
      await store().apply([]);
    });
    it('that come again change nothing, also an older one alone', async () => {
      const changes = failed({});
      await store().apply(changes);
      const before = await store().whole('run_1');
      await store().apply(changes);
      await store().apply(changes.slice(1, 2));
      expect(await store().whole('run_1')).toEqual(before);
      expect(await idsIn(store())).toEqual(['run_1']);
    });
    it('remove a text that is gone', async () => {
      const changes = changesOf({}, start(1_001), fail(1_002, 1, 'E_X', { exports: { $return_value: '2' } }));
      const [last] = changes.slice(-1);
      await store().apply([...changes, { ...(last as RunChange), version: 9, parts: { 'exports/a': null } }]);
      const left = await textsOf(store());
      expect([left['exports/a'], typeof left['step/a']]).toEqual([undefined, 'string']);
    });
    it('of two writers at once are all there', async () => {
      const changes = succeeded({});
      await Promise.all([store().apply(changes), store().apply(changes.slice(0, 2)), store().apply(changes)]);
      expect((await store().find('run_1'))?.state.head.status).toBe('succeeded');
      expect(await idsIn(store())).toEqual(['run_1']);
    });
    it('are read whole while they come', async () => {
      const changes = Array.from({ length: 40 }, (_, n) => succeeded({ id: `run_${n + 1}`, arrivedAt: 1_000 + n }));
      const [first = [], ...others] = changes[0]?.map((_, at) => changes.map((of) => of[at] as RunChange)) ?? [];
      await store().apply(first);
      const written = (async () => {
        for (const some of others) for (const change of some) await store().apply([change]);
      })();
      let isWritten = false;
      void written.finally(() => (isWritten = true));
      const states = changes[0]?.map((_, at) =>
        stateAfter(...[start(1_001), succeed(1_002, 1), succeed(1_003, 2)].slice(0, at)),
      );
      const partsAt = (version: number) => Object.keys(states?.[version - 1]?.parts ?? {}).sort();
      for (let n = 0; !isWritten; n = (n + 1) % 40) {
        const run = await store().whole(`run_${n + 1}`);
        expect(Object.keys(run?.state.parts ?? {}).sort()).toEqual(partsAt(run?.version ?? 0));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await written;
    });
    it('keep texts of any characters', async () => {
      const reason = 'ü\0 $.a.b 𝄞';
      const exit = succeed(1_002, 1, { kind: 'exit', reason }, { exports: { 'a.$b': '"\\u0000"' } });
      await store().apply(changesOf({}, start(1_001), exit));
      const kept = await textsOf(store());
      expect([kept['end'], kept['exports/a']]).toEqual([reason, '{"a.$b":"\\u0000"}']);
    });
  },
  sends: sendsPart,
  outlines: (store) => {
    it('are the runs that there are, with outcomes, and without other texts', async () => {
      await store().apply([...succeeded({ id: 'run_1' }), ...failed({ id: 'run_2', workflowId: 'p_2' })]);
      const found = await store().outlines(['run_2', 'run_none', 'run_1']);
      const [first, second] = [...found].sort((a, b) => (a.id < b.id ? -1 : 1));
      const names = [first, second].map((run) => Object.keys(run?.state.parts ?? {}).sort());
      expect(names).toEqual([
        ['event', 'origin', 'step/a', 'step/b'],
        ['end', 'event', 'origin', 'step/a'],
      ]);
      const whole = await store().whole('run_1');
      expect(first?.state.head).toEqual(whole?.state.head);
      expect(first?.state.parts['step/a']).toBe(whole?.state.parts['step/a']);
      expect([first?.state.parts['event'], second?.workflowId]).toEqual(['', 'p_2']);
      expect(await store().outlines([])).toEqual([]);
    });
    it('have no event that is gone', async () => {
      const changes = failed({});
      const [last] = changes.slice(-1);
      await store().apply([...changes, { ...(last as RunChange), version: 9, parts: { event: null, 'step/a': null } }]);
      const [run] = await store().outlines(['run_1']);
      expect(Object.keys(run?.state.parts ?? {}).sort()).toEqual(['end', 'origin']);
    });
  },
  stats: statsPart,
  pages: (store) => {
    it('hold the start of a long reason, and the run has all of it', async () => {
      const reason = 'x'.repeat(100_000);
      await store().apply(changesOf({}, start(1_001), succeed(1_002, 1, { kind: 'exit', reason })));
      const [listed] = (await store().page({ ...P1, limit: 1 })).runs;
      expect(listed?.state.parts['end']).toBe('x'.repeat(4_096));
      expect((await textsOf(store()))['end']).toBe(reason);
    });
    it('are newest first by arrival, in both directions, with the total of all', async () => {
      await store().apply(arrivals(5));
      const page = (query: Partial<RunQuery>) => store().page({ ...P1, limit: 2, ...query });
      const first = await page({});
      expect([first.runs.map(({ id }) => id), first.total]).toEqual([['run_5', 'run_4'], 5]);
      const after = first.runs[1]?.place ?? '';
      const second = await page({ after });
      expect([second.runs.map(({ id }) => id), second.total]).toEqual([['run_3', 'run_2'], 5]);
      const before = second.runs[1]?.place ?? '';
      expect((await page({ before })).runs.map(({ id }) => id)).toEqual(['run_4', 'run_3']);
      expect((await page({ after, before, limit: 9 })).runs.map(({ id }) => id)).toEqual(['run_3']);
      await expect(page({ after: 'run_1' })).rejects.toThrow(UnknownCursor);
    });
    it('begin at the place of a removed run', async () => {
      await store().apply(arrivals(3));
      const [, middle] = (await store().page({ ...P1, limit: 9 })).runs;
      await store().remove(['run_2']);
      expect(await idsIn(store(), { after: middle?.place ?? '' })).toEqual(['run_1']);
    });
    it('hold every run of one millisecond once', async () => {
      await store().apply(['a', 'b', 'c'].flatMap((id) => changesOf({ id: `run_${id}`, arrivedAt: 5_000 })));
      const all = await store().page({ ...P1, limit: 9 });
      const places = all.runs.map(({ place }) => place);
      const [, second] = all.runs;
      expect(new Set(places).size).toBe(3);
      expect(await idsIn(store(), { after: places[0] ?? '' })).toEqual([second?.id, all.runs[2]?.id]);
    });
    it('are of one workflow, or of several workspaces together', async () => {
      await store().apply([
        ...changesOf({ id: 'run_1', arrivedAt: 1_000 }),
        ...changesOf({ id: 'run_2', arrivedAt: 2_000, workflowId: 'p_2', ownerId: 'o_2' }),
        ...changesOf({ id: 'run_3', arrivedAt: 3_000, workflowId: 'p_3' }),
        ...changesOf({ id: 'run_4', arrivedAt: 4_000, workflowId: 'p_4', ownerId: 'o_4' }),
      ]);
      const of = (...workspaceIds: string[]) => store().page({ of: { workspaceIds }, limit: 2 });
      expect(await idsIn(store())).toEqual(['run_1']);
      const both = await of('o_2', 'o_1');
      expect([both.runs.map(({ id }) => id), both.total]).toEqual([['run_3', 'run_2'], 3]);
      const next = await store().page({
        of: { workspaceIds: ['o_1', 'o_2'] },
        limit: 2,
        after: both.runs[1]?.place ?? '',
      });
      expect(next.runs.map(({ id }) => id)).toEqual(['run_1']);
      expect((await of()).total).toBe(0);
    });
  },
  filters: (store) => {
    it('must all hold', async () => {
      const http = { trigger: { type: 'http', id: 'hi_1', name: 'door' } };
      const timer = { trigger: { type: 'timer', id: 'ti_1', name: null } };
      await store().apply([
        ...succeeded({ id: 'run_1', arrivedAt: 1_000, ...http }),
        ...failed({ id: 'run_2', arrivedAt: 2_000, ...timer }),
        ...changesOf({ id: 'run_3', arrivedAt: 3_000, ...http, traceId: 'run_1', replayOf: 'run_2' }),
        ...changesOf({ id: 'run_4', arrivedAt: 4_000, ...timer, test: true }),
      ]);
      const found = (filter: Partial<RunFilter>) => idsIn(store(), filter);
      expect(await found({ states: ['failed'] })).toEqual(['run_2']);
      expect(await found({ states: ['failed', 'succeeded'] })).toEqual(['run_2', 'run_1']);
      expect(await found({ states: [] })).toEqual([]);
      expect(await found({ test: false })).toEqual(['run_3', 'run_2', 'run_1']);
      expect(await found({ test: true })).toEqual(['run_4']);
      expect(await found({ trigger: 'http' })).toEqual(['run_3', 'run_1']);
      expect(await found({ trigger: 'door', states: ['queued'] })).toEqual(['run_3']);
      expect(await found({ since: 2_000, until: 3_000 })).toEqual(['run_3', 'run_2']);
      expect(await found({ since: 2_001 })).toEqual(['run_4', 'run_3']);
      expect(await found({ version: 1 })).toEqual(['run_2', 'run_1']);
      expect(await found({ version: 2 })).toEqual([]);
      expect(await found({ traceId: 'run_1' })).toEqual(['run_3', 'run_1']);
      expect(await found({ replayOf: 'run_2' })).toEqual(['run_3']);
      const counted = await store().page({ ...P1, limit: 1, states: ['queued'], test: false, since: 1, until: 9_000 });
      expect([counted.runs.length, counted.total]).toEqual([1, 1]);
    });
    it('see the state that a run has now', async () => {
      const changes = succeeded({});
      for (const [at, state] of (['queued', 'running', 'running', 'succeeded'] as const).entries()) {
        await store().apply(changes.slice(at, at + 1));
        expect([state, await idsIn(store(), { states: [state] })]).toEqual([state, ['run_1']]);
      }
      expect(await idsIn(store(), { states: ['queued', 'running', 'failed'] })).toEqual([]);
    });
  },
  words: (store) => {
    it('each begin a word of the id, the name of the trigger, a summary, the reason or the error', async () => {
      const trigger = { type: 'http', id: 'hi_1', name: 'front_Door' };
      const summary = { exports: { $summary: '"Sent Äpfel to 3 people"' } };
      const exit = succeed(1_003, 2, { kind: 'exit', reason: 'enough of it' });
      await store().apply([
        ...changesOf(
          { id: 'run_abc', arrivedAt: 1_000, trigger },
          start(1_001),
          succeed(1_002, 1, null, summary),
          exit,
        ),
        ...failed({ id: 'run_def', arrivedAt: 2_000 }),
        ...failed({ id: 'run_ghi', arrivedAt: 3_000, workflowId: 'p_2' }),
      ]);
      const found = (...words: string[]) => idsIn(store(), { words });
      expect(await found('abc')).toEqual(['run_abc']);
      expect(await found('fro')).toEqual(['run_abc']);
      expect(await found('door')).toEqual(['run_abc']);
      expect(await found('äp', 'sen')).toEqual(['run_abc']);
      expect(await found('ap')).toEqual([]);
      expect(await found('pfel')).toEqual([]);
      expect(await found('enou', '3')).toEqual(['run_abc']);
      expect(await found('e', 'x')).toEqual(['run_def']);
      expect(await found('run')).toEqual(['run_def', 'run_abc']);
      expect(await found('run', 'nowhere')).toEqual([]);
      expect(await idsIn(store(), { words: ['run'], states: ['failed'] })).toEqual(['run_def']);
      const all = await store().page({ of: { workspaceIds: ['o_1'] }, words: ['was'], limit: 1 });
      expect([all.runs.map(({ id }) => id), all.total]).toEqual([['run_ghi'], 2]);
      const next = await store().page({
        of: { workspaceIds: ['o_1'] },
        words: ['was'],
        limit: 1,
        after: all.runs[0]?.place ?? '',
      });
      expect(next.runs.map(({ id }) => id)).toEqual(['run_def']);
    });
    it('find no run by its workflow or workspace', async () => {
      await store().apply(failed({}));
      expect(await idsIn(store(), { words: ['p'] })).toEqual([]);
      expect(await idsIn(store(), { words: ['o'] })).toEqual([]);
    });
  },
  ids: (store) => {
    it('of all runs are listed, of every workflow and state', async () => {
      await store().apply([...arrivals(3), ...failed({ id: 'run_9', workflowId: 'p_2', ownerId: 'o_2' })]);
      const ids: string[] = [];
      for await (const id of store().ids()) ids.push(id);
      expect(ids.sort()).toEqual(['run_1', 'run_2', 'run_3', 'run_9']);
    });
    it('are none of an empty history', async () => {
      for await (const id of store().ids()) throw new Error(`${id} is there`);
      expect(await idsIn(store())).toEqual([]);
    });
  },
  surplus: (store) => {
    /** `run_1` ends at 2,000, `run_2` at 3,000 and so on. */
    const ended = (count: number, of: Partial<RunOrigin> = {}): RunChange[] =>
      Array.from({ length: count }, (_, n) =>
        changesOf({ id: `run_${n + 1}`, ...of }, start(1_001), fail(1_000 * (n + 2), 1, 'E_X')),
      ).flat();
    const waits = changesOf({ id: 'run_waits', arrivedAt: 1 }, start(2));

    it('of a workflow is each ended run after the newest, and no unfinished one', async () => {
      await store().apply([...waits, ...ended(5), ...failed({ id: 'run_other', workflowId: 'p_2' })]);
      const beyond = (runs: number, limit = 9) => store().surplus({ workflowId: 'p_1', runs, since: 0 }, limit);
      expect([...(await beyond(3))].sort()).toEqual(['run_1', 'run_2']);
      for (const runs of [5, 1_000_000_000]) expect(await beyond(runs)).toEqual([]);
      expect([...(await beyond(0))].sort()).toEqual(['run_1', 'run_2', 'run_3', 'run_4', 'run_5']);
      expect(await beyond(0, 2)).toHaveLength(2);
    });
    it('of a workflow is each run that ended before a time, whatever the number', async () => {
      await store().apply([...waits, ...ended(3)]);
      const before = (since: number, runs = 9) => store().surplus({ workflowId: 'p_1', runs, since }, 9);
      expect([...(await before(4_000))].sort()).toEqual(['run_1', 'run_2']);
      expect([...(await before(3_000, 1))].sort()).toEqual(['run_1', 'run_2']);
      expect(await before(2_000)).toEqual([]);
    });
    it('of a workspace counts what a step logs, and what becomes of its messages', async () => {
      const run = (arrivedAt: number, result: Partial<StepResult>): readonly RunChange[] =>
        changesOf(
          { id: `run_${arrivedAt}`, arrivedAt },
          start(1_001),
          succeed(1_002, 1, null, result),
          succeed(1_003, 2),
        );
      const sends = (kind: 'http' | 'emit') => Array.from({ length: 100 }, () => ({ kind, bytes: 1 }));
      const beyond = async (bytes: number) => (await store().surplus({ workspaceId: 'o_1', bytes }, 9))[0];
      await store().apply(run(1, { sends: sends('emit') }));
      expect(await beyond(20_000)).toBeUndefined();
      await store().apply(run(2, { sends: sends('http') }));
      expect(await beyond(80_000)).toBe('run_1');
      await store().apply(run(3, { logs: [{ k: 'console.log', ts: 1, msg: 'x'.repeat(100_000) }] }));
      expect(await beyond(180_000)).toBe('run_1');
    });
    it('of a workspace is as many of the first ended runs as bring its bytes down', async () => {
      const of = { id: 'run_big', arrivedAt: 500 };
      const big = succeed(1_002, 1, { kind: 'exit', reason: 'x'.repeat(100_000) });
      await store().apply([...waits, ...changesOf(of, start(1_001), big), ...ended(3)]);
      const beyond = (bytes: number, limit = 9) => store().surplus({ workspaceId: 'o_1', bytes }, limit);
      expect(await beyond(1_000_000)).toEqual([]);
      expect(await beyond(100_000)).toEqual(['run_big']);
      expect(await beyond(0)).toHaveLength(4);
      expect(await beyond(0, 2)).toHaveLength(2);
      expect(await store().surplus({ workspaceId: 'o_2', bytes: 0 }, 9)).toEqual([]);
    });
  },
  removal: (store) => {
    it('leaves nothing of a run, twice without harm, and later changes do not bring it back', async () => {
      const changes = failed({});
      await store().apply([...changes.slice(0, 2), ...failed({ id: 'run_2' })]);
      await store().remove(['run_1', 'run_none']);
      await store().remove(['run_1']);
      await store().remove([]);
      await store().apply(changes.slice(2));
      expect([await store().find('run_1'), await store().whole('run_1')]).toEqual([undefined, undefined]);
      expect(await idsIn(store())).toEqual(['run_2']);
      expect(await idsIn(store(), { words: ['was'] })).toEqual(['run_2']);
    });
  },
  restart: (store, harness) => {
    it('keeps the runs, and goes on with their changes', async () => {
      const changes = failed({});
      await store().apply(changes.slice(0, 2));
      const reopened = await harness().reopen();
      expect((await reopened.find('run_1'))?.state.head.status).toBe('running');
      await reopened.apply(changes);
      expect((await reopened.whole('run_1'))?.state).toEqual(stateAfter(start(1_001), fail(1_002, 1, 'E_X')));
    });
  },
};
