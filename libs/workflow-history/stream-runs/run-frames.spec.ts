import { describe, expect, it } from '@jest/globals';
import { LiveRecord, type StreamFrame } from '#libs/event-streams/index.js';
import { type LiveLines, linesRecord } from '#libs/stream-log/line-records.js';
import { outcomeRecord } from '#libs/stream-log/message-records.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { type RunChange } from '#libs/workflow-runs/run-change.js';
import { type RunInput } from '#libs/workflow-runs/run-inputs.js';
import { ab, changesOf } from '#libs/workflow-runs/testing/run-changes.js';
import { fail, listed, resume, start, succeed } from '#libs/workflow-runs/testing/run-samples.js';
import { foldChanges } from '../recorded-run.js';
import { runsShown, ShownRun } from './run-frames.js';

const liveOf = (change: RunChange | string, offset = 0, headers = {}): LiveRecord =>
  new LiveRecord({
    topic: 'runs.p_1',
    key: 'p_1',
    headers,
    value: typeof change === 'string' ? change : JSON.stringify(change),
    lane: 'runs.p_1',
    offset,
    timestamp: 0,
    size: 0,
  });
const nameOf = (): string => 'Orders';
const topics = perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 });

type Sent = readonly [event: string, data: Record<string, unknown>];
const sentIn = (frames: readonly (StreamFrame | undefined)[]): readonly Sent[] =>
  frames.flatMap((each) =>
    [...(each?.frame.toString() ?? '').matchAll(/^event: (\w+)\ndata: (.*)\n\n/gm)].map(
      ([, event = '', data = '']): Sent => [event, JSON.parse(data) as Record<string, unknown>],
    ),
  );
const brief = (sent: readonly Sent[]) =>
  sent.map(([event, data]) => (event === 'log' ? [event, data['msg']] : [event, data['namespace'], data['state']]));

const logs = [
  { k: 'stdout', ts: 1, msg: 'first' },
  { k: 'stderr', ts: 2, msg: 'second' },
];
const long = { $return_value: JSON.stringify('x'.repeat(3_000)) };

// docs/reference/workflows.md#run-streams
describe('the stream of the runs of a workflow', () => {
  it('has the run at each change of its state, and nothing of its steps', () => {
    const show = runsShown(nameOf);
    const changes = changesOf({}, start(2), succeed(3, 1), succeed(4, 2));
    const sent = sentIn(changes.map((change, at) => show(liveOf(change, at))));
    expect(
      sent.map(([event, { id, workflow_name, state, trigger }]) => [event, id, workflow_name, state, trigger]),
    ).toEqual(
      ['queued', 'running', 'succeeded'].map((state) => [
        'run',
        'run_1',
        'Orders',
        state,
        { type: 'http', id: 'hi_1', name: 'http' },
      ]),
    );
  });

  it('shows the error of a run that failed', () => {
    const last = changesOf({}, start(2), fail(3, 1, 'E_X')).at(-1);
    const [[, run] = []] = sentIn([last && runsShown(nameOf)(liveOf(last))]);
    expect(run).toMatchObject({ state: 'failed', error: { code: 'E_X', namespace: 'a' } });
    expect((run?.['error'] as { cellId: string }).cellId).toMatch(/^c_/);
  });

  it('passes over a record that is no change', () => {
    expect(runsShown(nameOf)(liveOf('{'))).toBeUndefined();
  });
});

// docs/reference/workflows.md#run-streams
describe('the stream of a run', () => {
  it('has each step as it starts and ends, its log lines, and the run last', () => {
    const shown = new ShownRun('run_1', nameOf);
    const changes = changesOf({}, start(2), succeed(3, 1, null, { logs, exports: long }), succeed(4, 2));
    const frames = changes.map((change) => shown.show(liveOf(change)));
    expect(brief(sentIn(frames))).toEqual([
      ['run', undefined, 'queued'],
      ['run', undefined, 'running'],
      ['step', 'a', 'running'],
      ['log', 'first'],
      ['log', 'second'],
      ['step', 'a', 'succeeded'],
      ['step', 'b', 'running'],
      ['step', 'b', 'succeeded'],
      ['run', undefined, 'succeeded'],
    ]);
    const ended = sentIn(frames).find(([, data]) => data['namespace'] === 'a' && data['state'] === 'succeeded');
    expect(ended?.[1]).toMatchObject({ truncated: true, logs });
    expect(frames.map((each) => each?.isLast)).toEqual([undefined, undefined, undefined, true]);
    expect([...frames].sort((a, b) => ((a?.sort ?? '') < (b?.sort ?? '') ? -1 : 1))).toEqual(frames);
  });

  it('leaves out what became of a message of the run', () => {
    const { topic, headers, value } = outcomeRecord(topics, {
      workspaceId: 'o_1',
      workflowId: 'p_1',
      runId: 'run_1',
      namespace: 'a',
      execution: 1,
      index: 0,
      id: 'snd_1',
      state: 'sent',
      attempts: 1,
      status: 200,
      error: null,
    });
    const record = { topic, key: 'p_1', headers, value, lane: topic, offset: 0, timestamp: 0, size: 0 };
    expect(new ShownRun('run_1', nameOf).show(new LiveRecord(record))).toBeUndefined();
    expect(runsShown(nameOf)(new LiveRecord(record))).toBeUndefined();
  });

  it('has the lines of each item of a loop, and no items', () => {
    const shown = new ShownRun('run_1', nameOf);
    const changes = changesOf(
      {},
      start(2),
      listed(3, 1, 2),
      succeed(4, 2, null, { logs }),
      succeed(5, 3, null, { logs: logs.slice(0, 1) }),
    );
    const sent = sentIn(changes.map((change) => shown.show(liveOf(change))));
    expect(brief(sent)).toEqual([
      ['run', undefined, 'queued'],
      ['run', undefined, 'running'],
      ['step', 'a', 'running'],
      ['log', 'first'],
      ['log', 'second'],
      ['log', 'first'],
      ['step', 'a', 'succeeded'],
      ['step', 'b', 'running'],
    ]);
    const ended = sent.find(([, data]) => data['namespace'] === 'a' && data['state'] === 'succeeded')?.[1];
    expect([ended?.['exports'], ended?.['items']]).toEqual([{ $summary: '2 of 2 items' }, undefined]);
  });

  describe('has lines while an execution goes on', () => {
    const lines = ['first', 'second', 'third'].map((msg, ts) => ({ k: 'stdout', ts, msg }));
    const told = (from: number, to: number, more: Partial<LiveLines> = {}): LiveRecord => {
      const live = { runId: 'run_1', namespace: 'a', item: null, from, lines: lines.slice(from, to), ...more };
      const { headers, value } = linesRecord(topics, 'p_1', live);
      return liveOf(value, 1_000 + from, headers);
    };
    const begun = (count: number, changes: readonly RunChange[]) => {
      const shown = new ShownRun('run_1', nameOf);
      const [stored] = foldChanges(new Map(), changes.slice(0, count));
      if (!stored) throw new Error('no run');
      const state = { ...stored.run.state, parts: { ...stored.run.state.parts, ...textsOf(changes.slice(0, count)) } };
      const first = shown.begin({ ...stored.run, state, place: '' }, { steps: ab, workflowName: 'Orders' });
      const after = changes.slice(count).map((change) => liveOf(change));
      const logsOf = (...records: readonly LiveRecord[]) =>
        brief(sentIn(records.map((record) => shown.show(record)))).flatMap(([event, text]) =>
          event === 'log' ? [text] : [],
        );
      return { shown, first, after, logsOf };
    };
    const ending = changesOf({}, start(2), succeed(3, 1, null, { logs: lines }));

    it('and the others with its outcome', () => {
      const { logsOf, after } = begun(2, ending);
      expect(logsOf(told(0, 1), told(1, 2))).toEqual(['first', 'second']);
      expect(logsOf(...after)).toEqual(['third']);
    });

    it('in their place among the changes, each batch once', () => {
      const { shown, first } = begun(2, ending);
      const [one, two] = [shown.show(told(0, 1)), shown.show(told(1, 2))];
      const after = shown.show(liveOf(ending[2] ?? ''));
      const sorts = [first, one, two, after].map((frame) => frame?.sort ?? '');
      expect(sorts).toEqual([...new Set(sorts)].sort());
      expect(begun(2, ending).logsOf(told(0, 2), told(0, 2), told(1, 3))).toEqual([
        'first',
        'second',
        'first',
        'second',
        'third',
      ]);
    });

    it('but not those that it missed, before its begin or of another run, which come with the outcome', () => {
      const late = begun(2, ending);
      expect([...late.logsOf(told(1, 2)), ...late.logsOf(...late.after)]).toEqual(['second', 'first', 'third']);
      expect(begun(2, ending).logsOf(told(0, 1, { runId: 'run_2' }))).toEqual([]);
      const early = new ShownRun('run_1', nameOf);
      expect(early.show(told(0, 1))).toBeUndefined();
      expect(
        brief(sentIn(ending.map((change) => early.show(liveOf(change))))).filter(([event]) => event === 'log'),
      ).toHaveLength(3);
      expect(runsShown(nameOf)(told(0, 1))).toBeUndefined();
    });

    it('of each item, and again when an execution was lost', () => {
      const loop = changesOf({}, start(2), listed(3, 1, 2), succeed(4, 2, null, { logs: lines }));
      const items = begun(3, loop);
      expect(items.logsOf(told(0, 2, { item: 0 }), told(0, 1, { item: 1 }))).toEqual(['first', 'second', 'first']);
      expect(items.logsOf(...items.after)).toEqual(['third']);
      const lost = changesOf({}, start(2), lostAt(3, 1), succeed(4, 1, null, { logs: lines }));
      const crashed = begun(2, lost);
      expect([...crashed.logsOf(told(0, 2)), ...crashed.logsOf(...crashed.after)]).toEqual([
        ...['first', 'second', 'first', 'second', 'third'],
      ]);
    });
  });

  it('leaves out what happens to other runs', () => {
    const shown = new ShownRun('run_2', nameOf);
    expect(changesOf({}, start(2)).map((change) => shown.show(liveOf(change)))).toEqual([undefined, undefined]);
  });

  it('begins with the run and the steps so far, and then knows what a later change leaves as it was', () => {
    const changes = changesOf(
      {},
      start(2),
      succeed(3, 1, { kind: 'suspend', ms: 1_000 }, { logs, exports: long }),
      resume(4, 1),
    );
    const before = changes.slice(0, 3);
    const [stored] = foldChanges(new Map(), before);
    if (!stored) throw new Error('no run');
    const state = { ...stored.run.state, parts: { ...stored.run.state.parts, ...textsOf(before) } };
    const shown = new ShownRun('run_1', nameOf);
    const run = { ...stored.run, state, place: '' };
    expect(brief(sentIn([shown.begin(run, { steps: ab, workflowName: 'Orders' })]))).toEqual([
      ['run', undefined, 'waiting'],
      ['step', 'a', 'waiting'],
    ]);
    const resumed = sentIn(changes.slice(3).map((change) => shown.show(liveOf(change))));
    expect(brief(resumed)).toEqual([
      ['run', undefined, 'queued'],
      ['step', 'a', 'succeeded'],
    ]);
    expect(resumed[1]?.[1]).toMatchObject({ truncated: true, logs });
    const { $return_value: value, $resume_data: data } = resumed[1]?.[1]['exports'] as Record<string, unknown>;
    expect([String(value).slice(0, 3), data]).toEqual(['xxx', { body: 1 }]);
  });
});

/** The owner of the run was lost. */
const lostAt = (now: number, execution: number): RunInput => ({
  type: 'interrupt',
  now,
  execution,
  cause: 'owner',
  mayWait: true,
});

const textsOf = (changes: readonly RunChange[]): Record<string, string> => {
  const texts: Record<string, string> = {};
  for (const { parts } of changes)
    for (const [name, text] of Object.entries(parts)) if (text !== null) texts[name] = text;
  return texts;
};
