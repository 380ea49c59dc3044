import { describe, expect, it } from '@jest/globals';
import { Committer } from './committer.js';
import { type Decision, type Executable, type Input } from './executable.js';
import { HeardEmits } from './heard-emits.js';
import { type Invocation } from './invocation.js';
import { LaneTracker } from './lane-tracker.js';
import { type RunCommit, STATE_CHANGE_BYTES, StateConflict, nameOf } from './run-journal.js';
import { InMemoryJournal } from './testing/in-memory-journal.js';

type Turn = Input & { readonly run: string; readonly text: string };

/** Adds a text to a run with each input. */
class Rounds implements Executable<ReadonlyMap<string, number>, Turn> {
  readonly id = 'p_rounds';
  readonly cuts = ['nothing', 'text'];

  async prepare(): Promise<void> {
    // It waits for nothing.
  }

  async decide(
    versions: ReadonlyMap<string, number>,
    turns: readonly Turn[],
    { level }: { readonly level: number },
  ): Promise<Decision<ReadonlyMap<string, number>>> {
    const next = new Map(versions);
    const runs = turns.map(({ run, text }): RunCommit => {
      const version = next.get(run) ?? 0;
      next.set(run, version + 1);
      const parts = { text: level === 0 ? text : 'too long' };
      return { executable: this.id, run, expectedVersion: version, head: '{}', parts, inbox: [], records: [] };
    });
    return { facts: {}, records: [], alarms: [], lastEventId: '', next, runs };
  }

  weightOf() {
    return { bytes: 0, records: 1 };
  }

  release(): void {
    // An input has no resources.
  }
}

const world = <J extends InMemoryJournal>(journal: J) => {
  const tracker = new LaneTracker({ through: -1, above: [] });
  const conflicts: Error[] = [];
  const committer = new Committer({
    executable: new Rounds(),
    deps: { journal, metrics: { platformFailure: () => undefined }, logger: { error: () => undefined } },
    version: 0,
    state: new Map(),
    lastEventId: '',
    tracker,
    heard: new HeardEmits({}),
    onIdle: () => undefined,
    onConflict: (error) => conflicts.push(error),
  });
  const push = (run: string, offset: number | undefined, text = run): Promise<boolean> => {
    const record = { topic: 't', lane: 't', key: 'p_rounds', offset: offset ?? 0, timestamp: 1, value: '', size: 1 };
    const headers = { id: `inv_${offset}`, kind: 'manual' };
    const invocation =
      offset === undefined ? undefined : ({ record: { ...record, headers: {} }, headers } as unknown as Invocation);
    if (offset !== undefined) tracker.admit({ offset });
    return new Promise((resolve) => {
      const ends = { committed: () => resolve(true), abandoned: () => resolve(false) };
      committer.push({ run, text, invocation, ...ends });
    });
  };
  const written = (): string[] => journal.commits.map(nameOf);
  return { journal, push, written, conflicts };
};

/** Writes several states in one transaction, as the embedded engine does. */
class AtOnce extends InMemoryJournal {
  readonly writes: string[][] = [];
  refusals = 0;

  async commitAll(commits: readonly RunCommit[]): Promise<void> {
    if (this.refusals-- > 0) throw new Error('the disk is full');
    this.writes.push(commits.map(nameOf));
    for (const commit of commits) await this.commit(commit);
  }
}

describe('an executable with runs', () => {
  it('is stored together with the runs of the commit where the journal can, and again when that failed', async () => {
    const { journal, push, written } = world(new AtOnce());
    journal.refusals = 1;
    await Promise.all([push('run_a', 0), push('run_b', 1)]);
    const all = ['p_rounds/run_a', 'p_rounds/run_b', 'p_rounds'];
    expect([journal.writes, written()]).toEqual([[all], all]);
  });

  it('drops all of it when another owner has committed to one of the runs', async () => {
    const { journal, push, written, conflicts } = world(new AtOnce());
    journal.commitAll = async () => Promise.reject(new StateConflict('p_rounds/run_a', 0, 1));
    expect(await Promise.all([push('run_a', 0), push('run_b', 1)])).toEqual([false, false]);
    expect([conflicts.length, written()]).toEqual([1, []]);
  });

  it('is stored after the runs of the commit, and not at all for what happens within runs', async () => {
    const { journal, push, written } = world(new InMemoryJournal());
    await Promise.all([push('run_a', 0), push('run_b', 1)]);
    expect(written()).toEqual(['p_rounds/run_a', 'p_rounds/run_b', 'p_rounds']);
    expect(journal.laneOf('p_rounds').progress).toEqual({ through: 1, above: [] });
    await push('run_a', undefined);
    expect(written().slice(3)).toEqual(['p_rounds/run_a']);
  });

  it('repeats only the writes that failed', async () => {
    const { journal, push, written } = world(new InMemoryJournal());
    journal.failures = 1;
    await Promise.all([push('run_a', 0), push('run_b', 1)]);
    expect(written()).toEqual(['p_rounds/run_b', 'p_rounds/run_a', 'p_rounds']);
  });

  it('stops when another process has written one of the runs, and acknowledges nothing', async () => {
    const { journal, push, conflicts } = world(new InMemoryJournal());
    const head = { executable: 'p_rounds', run: 'run_a', expectedVersion: 0, head: '{}' };
    await journal.commit({ ...head, parts: {}, inbox: [], records: [] });
    expect(await push('run_a', 0)).toBe(false);
    expect(conflicts).toMatchObject([{ name: 'StateConflict', state: 'p_rounds/run_a' }]);
    expect(journal.laneOf('p_rounds').version).toBe(0);
  });

  it('cuts only the run that is too large, and writes none of the others twice', async () => {
    const { journal, push, written } = world(new InMemoryJournal());
    const large = 'x'.repeat(STATE_CHANGE_BYTES);
    expect(await Promise.all([push('run_a', 0), push('run_b', 1, large), push('run_c', 2)])).toEqual([
      true,
      true,
      true,
    ]);
    expect(journal.states.get('p_rounds/run_b')?.parts['text']).toBe('too long');
    expect(
      written()
        .filter((name) => name !== 'p_rounds')
        .sort(),
    ).toEqual(['a', 'b', 'c'].map((run) => `p_rounds/run_${run}`));
  });
});
