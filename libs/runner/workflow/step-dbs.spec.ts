import { describe, expect, it } from '@jest/globals';
import { type DbChanges } from '../outcome/db-draft.js';
import { WorkflowInstallation, failed, step, succeeded, until } from './testing/workflow-world.js';
import { readStepDb } from './step-dbs.js';

const KEEPER = step('a');
const A = step('a', { definition: { ...KEEPER.definition, props: [{ kind: 'db', prop: 'db' }] } });

/** A workflow whose only step adds one to `n` in its db. */
const counting = async (steps = [A]) => {
  const installation = new WorkflowInstallation(steps);
  const { journal } = installation;
  const db = () => readStepDb(journal, 'p_1', 'c_a');
  return { installation, journal, db };
};

const countOf = ({ db = {} }: { readonly db?: Readonly<Record<string, string>> }): number => Number(db['n'] ?? '0');

type Process = Awaited<ReturnType<WorkflowInstallation['process']>>;

/** Ends the call with one more in its db. */
const add = async ({ calls }: Process, index: number, more: DbChanges = {}): Promise<void> => {
  await until(() => calls.length > index);
  const call = calls[index];
  call?.end(succeeded(), [], [], { n: String(countOf(call) + 1), ...more });
};

describe('$.service.db of a step', () => {
  it('is read when the step starts, and written with its outcome', async () => {
    const { installation, db } = await counting();
    const process = await installation.process();
    for (const run of [0, 1]) {
      await process.runner.accept([installation.event(run)]);
      await add(process, run, { x: run === 0 ? '"y"' : null });
      await until(() => installation.statusOf(run) === 'succeeded');
    }
    expect(process.calls.map(({ db: given }) => given)).toEqual([{}, { n: '1', x: '"y"' }]);
    expect(await db()).toEqual({ n: '2' });
    await until(() => installation.journal.states.size === 2);
    expect(installation.changesOf(0).some((change) => JSON.stringify(change).includes('"y"'))).toBe(false);
  });

  it('keeps nothing of an execution that failed, and is absent for a step that does not declare it', async () => {
    const { installation, db } = await counting([A, step('b')]);
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0), installation.event(1)]);
    await until(() => calls.length === 2);
    calls[0]?.end(failed(), [], [], { n: '1' });
    await until(() => installation.statusOf(0) === 'failed');
    expect(await db()).toEqual({});
    calls[1]?.end(succeeded(), [], [], { m: '1' });
    await until(() => calls.length === 3);
    expect([calls[2]?.execution.namespace, calls[2]?.db, await db()]).toEqual(['b', undefined, { m: '1' }]);
  });

  it('has the last write of runs that overlap, also within one commit', async () => {
    const { installation, db } = await counting();
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0), installation.event(1)]);
    await until(() => calls.length === 2);
    calls[0]?.end(succeeded(), [], [], { n: '1', first: '1' });
    calls[1]?.end(succeeded(), [], [], { n: '2', last: '1' });
    await until(() => installation.statusOf(0) === 'succeeded' && installation.statusOf(1) === 'succeeded');
    expect(await db()).toEqual({ n: '2', first: '1', last: '1' });
  });

  it('refuses what runs that overlap would store together beyond its limit', async () => {
    const { installation, db } = await counting();
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0), installation.event(1)]);
    await until(() => calls.length === 2);
    const large = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`k${n}`, `"${'x'.repeat(50_000)}"`]));
    calls[0]?.end(succeeded(), [], [], large);
    calls[1]?.end(
      succeeded(),
      [],
      [],
      Object.fromEntries(Object.entries(large).map(([key, text]) => [`m${key}`, text])),
    );
    await until(() => installation.statusOf(1) === 'failed' && installation.statusOf(0) === 'succeeded');
    expect(installation.errors()).toMatchObject([{ error: { code: 'DbLimitExceeded' } }]);
    expect(Object.keys(await db())).toEqual(Object.keys(large));
  });

  it('leaves no copy in a run that goes on', async () => {
    const { installation, journal } = await counting([A, step('b'), step('c')]);
    const process = await installation.process();
    await process.runner.accept([installation.event(0)]);
    await add(process, 0);
    await until(() => process.calls.length === 2);
    const copies = () => [...journal.states.values()].filter(({ parts }) => 'db' in parts).length;
    expect(copies()).toBe(1);
    process.calls[1]?.end(succeeded());
    await until(() => process.calls.length === 3);
    expect(copies()).toBe(0);
  });

  it('goes with the workflow', async () => {
    const { installation, journal, db } = await counting();
    const process = await installation.process();
    await process.runner.accept([installation.event(0)]);
    await add(process, 0);
    await until(() => installation.statusOf(0) === 'succeeded');
    await journal.drop('p_1');
    expect(await db()).toEqual({});
  });
});

describe('a process that dies around the commit of a db', () => {
  const dying = async (when: (run: string | undefined) => boolean) => {
    const { installation, journal, db } = await counting([A, step('b')]);
    const before = await installation.process();
    await before.runner.accept([installation.event(0)]);
    await until(() => before.calls.length === 1);
    const commit = journal.commit.bind(journal);
    let held = 0;
    journal.commit = (each) => {
      if (held === 0 && !when(each.run)) return commit(each);
      held++;
      return new Promise(() => undefined);
    };
    await add(before, 0);
    await until(() => held > 0);
    journal.commit = commit;
    return { installation, db };
  };

  it('before the outcome leaves nothing of the execution', async () => {
    const { installation, db } = await dying((run) => run?.startsWith('run_') === true);
    expect(await db()).toEqual({});
    const process = await installation.process();
    await add(process, 0);
    await until(() => process.calls.length === 2);
    expect([process.calls[0]?.db, await db()]).toEqual([{}, { n: '1' }]);
  });

  it('after the outcome makes up for the commit, once', async () => {
    const { installation, db } = await dying((run) => run?.startsWith('c_') === true);
    expect(await db()).toEqual({});
    const process = await installation.process();
    await until(() => process.calls.length === 1);
    expect([process.calls[0]?.execution.namespace, await db()]).toEqual(['b', { n: '1' }]);
    // A later run has changed it before the process dies again.
    await process.runner.accept([installation.event(1)]);
    await add(process, 1);
    await until(() => process.calls.length === 3);
    expect(await db()).toEqual({ n: '2' });
    const last = await installation.process();
    await until(() => last.calls.length === 2);
    expect(await db()).toEqual({ n: '2' });
    for (const { end } of last.calls) end(succeeded());
    await until(() => installation.journal.states.size === 2);
  });

  it('after a former owner that wrote its outcome late makes up for what another commit passed over', async () => {
    const { installation, db } = await dying((run) => run?.startsWith('c_') === true);
    // The new owner had loaded before the outcome was stored, and another run changed the db.
    const { version } = await installation.journal.load({ executable: 'p_1', run: 'c_a' });
    await installation.journal.commit({
      executable: 'p_1',
      run: 'c_a',
      expectedVersion: version,
      head: '{}',
      parts: { 'db/other': '1' },
      inbox: ['run_other/1'],
      records: [],
    });
    await installation.process();
    expect(await db()).toEqual({ other: '1', n: '1' });
  });
});
