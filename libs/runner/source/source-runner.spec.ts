import { describe, expect, it } from '@jest/globals';
import { type HostDeaths, NO_HOST_DEATHS } from '../host-deaths.js';
import { type RunOutcome } from '#libs/sandbox/index.js';
import { SourceRunner } from './source-runner.js';
import { ok } from './testing/fake-sandbox.js';
import { definition, sourceWorld, until } from './testing/source-world.js';

describe('source runner', () => {
  it('acknowledges an invocation only once its emits are committed', async () => {
    const t = sourceWorld({ auto: (request) => ok({ emits: [{ payload: request.event, channel: '' }] }) });
    let release = (): void => undefined;
    t.journal.held = new Promise((resolve) => (release = resolve));
    const runner = await t.load();
    await runner.accept([t.invocation(0), t.invocation(1)]);
    await until(() => t.sandboxes[0]?.started.length === 2);
    expect(t.acked).toEqual([]);
    release();
    await until(() => t.acked.length === 2);
    expect(t.journal.records.map((record) => record.value)).toEqual(['{"n":0}', '{"n":1}']);
    expect(t.journal.laneOf('dc_1').progress).toEqual({ through: 1, above: [] });
  });

  it('repeats after a crash only the invocations that were not committed', async () => {
    const t = sourceWorld();
    const runner = await t.load();
    await runner.accept([0, 1, 2].map((offset) => t.invocation(offset)));
    await until(() => t.sandboxes[0]?.started.length === 3);
    t.sandboxes[0]?.end('inv_0');
    t.sandboxes[0]?.end('inv_2');
    await until(() => t.acked.length === 2);

    const after = sourceWorld({ journal: t.journal, auto: () => ok() });
    const second = await after.load();
    await second.accept([0, 1, 2].map((offset) => after.invocation(offset)));
    await until(() => after.acked.length === 3);
    expect(after.sandboxes[0]?.started).toEqual(['inv_1']);
    expect(after.journal.laneOf('dc_1').progress).toEqual({ through: 2, above: [] });
  });

  it('gives a new process the committed db, and in order the invocations that the dead one never started', async () => {
    const t = sourceWorld();
    t.world.definition = definition({ props: [{ kind: 'db', prop: 'db' }] });
    const runner = await t.load();
    await runner.accept([0, 1, 2, 3].map((offset) => t.invocation(offset)));
    await until(() => t.sandboxes[0]?.started.length === 4);
    expect(t.sandboxes[0]?.spec.concurrency).toBe(1);
    t.sandboxes[0]?.end('inv_0', ok({ dbChanges: { count: '1' } }));
    t.sandboxes[0]?.die();
    await until(() => t.sandboxes[1]?.started.length === 3);
    expect(t.sandboxes[1]?.started).toEqual(['inv_1', 'inv_2', 'inv_3']);
    expect(t.sandboxes[1]?.spec.db).toEqual({ count: '1' });
  });

  it('runs invocations of a drained process in order in a new one, once the running ones are committed', async () => {
    const t = sourceWorld();
    t.world.definition = definition({ props: [{ kind: 'db', prop: 'db' }] });
    const runner = await t.load();
    await runner.accept([0, 1, 2, 3].map((offset) => t.invocation(offset)));
    await until(() => t.sandboxes[0]?.started.length === 4);
    t.sandboxes[0]?.drain();
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(t.sandboxes).toHaveLength(1);
    t.sandboxes[0]?.end('inv_0', ok({ dbChanges: { count: '1' } }));
    await until(() => t.sandboxes[1]?.started.length === 3);
    expect(t.sandboxes[1]?.started).toEqual(['inv_1', 'inv_2', 'inv_3']);
    expect(t.sandboxes[1]?.spec.db).toEqual({ count: '1' });
  });

  it('waits only for started runs when it closes, and leaves the rest in the log', async () => {
    const t = sourceWorld();
    t.world.definition = definition({ props: [{ kind: 'db', prop: 'db' }] });
    const runner = await t.load();
    await runner.accept([0, 1, 2].map((offset) => t.invocation(offset)));
    await until(() => t.sandboxes[0]?.started.length === 3);
    const closed = runner.close();
    t.sandboxes[0]?.end('inv_0');
    await closed;
    expect(t.acked).toEqual([0]);
    expect(t.sandboxes).toHaveLength(1);
  });

  it('retries while the store cannot write, acknowledges nothing until then, and loses nothing', async () => {
    const t = sourceWorld({ auto: () => ok({ emits: [{ payload: '1', channel: '' }] }) });
    t.journal.failures = 2;
    const runner = await t.load();
    await runner.accept([t.invocation(0)]);
    await until(() => t.journal.failures === 0);
    expect(t.acked).toEqual([]);
    await until(() => t.acked.length === 1);
    expect(t.journal.records).toHaveLength(1);
  });

  it('commits and acknowledges nothing after another process’s commit, and returns its work in flight', async () => {
    const t = sourceWorld({ auto: () => ok({ emits: [{ payload: '1', channel: '' }] }) });
    const runner = await t.load();
    const other = await t.load();
    await other.accept([t.invocation(0)]);
    await until(() => t.acked.length === 1);
    await runner.accept([t.invocation(1), t.invocation(2)]);
    await until(() => t.conflicts.length === 1);
    expect(t.conflicts).toEqual([[1, 2]]);
    expect(t.acked).toEqual([0]);
    expect(t.journal.records).toHaveLength(1);
    expect(await runner.accept([t.invocation(3)])).toBe(false);
  });

  it('answers a customResponse after the commit, a throw with 500, and a run without a response with 200', async () => {
    const error = { name: 'Error', message: 'boom', stack: '', code: 'Error' };
    const reply = { status: 201, headers: {}, body: 'made', base64: false };
    const outcomes: Record<string, RunOutcome> = {
      inv_0: ok({ response: reply }),
      inv_1: ok({ status: 'threw', error }),
      inv_2: ok(),
      inv_3: ok({ status: 'killed', error: { ...error, code: 'Timeout' } }),
    };
    const t = sourceWorld({ auto: (request) => outcomes[request.invocationId] ?? ok() });
    const runner = await t.load();
    await runner.accept([0, 1, 2, 3].map((offset) => t.invocation(offset, { respond: 'here' })));
    await until(() => t.replies.length === 4);
    expect(t.replies.map(([, { status }]) => status)).toEqual([201, 500, 200, 504]);
    expect(t.replies[0]?.[1]).toEqual(reply);
  });

  it('does not run a repeat from the router or a timer', async () => {
    const t = sourceWorld({ auto: () => ok({ emits: [{ payload: '1', channel: '' }] }) });
    const runner = await t.load();
    await runner.accept([t.invocation(0, { kind: 'emit', id: 'inv_same' })]);
    await until(() => t.acked.length === 1);
    await runner.accept([t.invocation(1, { kind: 'emit', id: 'inv_same' })]);
    await until(() => t.acked.length === 2);
    expect(t.journal.records).toHaveLength(1);
  });

  it('runs one tick of a timer at a time, and merges those that arrive in the meantime', async () => {
    const t = sourceWorld();
    const tick = (offset: number) => t.invocation(offset, { kind: 'timer', prop: 'timer', id: `tick_${offset}` });
    const runner = await t.load();
    await runner.accept([0, 1, 2, 3].map(tick));
    await until(() => t.sandboxes[0]?.started.length === 1);
    t.sandboxes[0]?.end('tick_0');
    await until(() => t.sandboxes[0]?.started.length === 2);
    expect(t.sandboxes[0]?.started).toEqual(['tick_0', 'tick_3']);
    t.sandboxes[0]?.end('tick_3');
    await until(() => t.acked.length === 4);
  });

  it('runs an invocation of a source that this process does not know yet', async () => {
    const t = sourceWorld({ auto: () => ok() });
    const { definition: made } = t.world;
    t.world.definition = undefined;
    t.upToDate.push(() => (t.world.definition = made));
    const runner = await t.load();
    await runner.accept([t.invocation(0)]);
    await until(() => t.acked.length === 1);
    expect(t.sandboxes[0]?.started).toEqual(['inv_0']);
  });

  it('does not run a repeat that arrives while the first is in flight', async () => {
    const t = sourceWorld();
    const runner = await t.load();
    await runner.accept([0, 1].map((offset) => t.invocation(offset, { kind: 'emit', id: 'inv_same' })));
    await until(() => t.acked.length === 1);
    expect(t.acked).toEqual([1]);
    t.sandboxes[0]?.end('inv_same');
    await until(() => t.acked.length === 2);
    expect(t.sandboxes[0]?.started).toEqual(['inv_same']);
  });

  it('acknowledges a record that is handed over again only when its run is durable', async () => {
    const t = sourceWorld({ auto: () => ok() });
    let release = (): void => undefined;
    t.journal.held = new Promise((resolve) => (release = resolve));
    const runner = await t.load();
    await runner.accept([t.invocation(0)]);
    await until(() => t.journal.waiting === 1);
    await runner.accept([t.invocation(0)]);
    expect(t.acked).toEqual([]);
    release();
    await until(() => t.acked.length === 1);
    expect(t.sandboxes[0]?.started).toEqual(['inv_0']);
  });

  it('runs a record that is handed over again after the journal could not be read', async () => {
    const t = sourceWorld({ auto: () => ok() });
    const runner = await t.load();
    t.journal.failuresToAsk = 1;
    const emit = t.invocation(0, { kind: 'emit' });
    await expect(runner.accept([emit])).rejects.toThrow('cannot be read');
    await runner.accept([emit]);
    await until(() => t.acked.length === 1);
    expect(t.sandboxes[0]?.started).toEqual(['inv_0']);
  });

  it('acknowledges invocations of a deleted source', async () => {
    const t = sourceWorld();
    t.world.definition = undefined;
    const runner = await t.load();
    await runner.accept([t.invocation(0)]);
    await until(() => t.acked.length === 1);
    expect(t.sandboxes).toHaveLength(0);
  });

  it('keeps a hook’s emits and db changes, and runs invocations with the hook’s definition until the operation ends', async () => {
    const t = sourceWorld({ auto: () => ok() });
    const runner = await t.load();
    const next = definition({ bundleHash: 'next' });
    const outcome = await runner.hook('activate', next, 'o_1', 'inv_hook');
    expect(outcome.status).toBe('ok');
    expect(t.journal.dbOf('dc_1')).toEqual({ hook: '1' });
    expect(t.journal.records.map((record) => record.headers['channel'])).toEqual(['', '$logs']);
    await runner.accept([t.invocation(0)]);
    await until(() => t.acked.length === 1);
    expect(t.sandboxes.map((sandbox) => sandbox.spec.bundleFile)).toEqual(['/blobs/next']);
    runner.operationEnded();
    await runner.accept([t.invocation(1)]);
    await until(() => t.acked.length === 2);
    expect(t.sandboxes.map((sandbox) => sandbox.spec.bundleFile)).toEqual(['/blobs/next', '/blobs/hash']);
  });

  it('leaves invocations that it did not start in the log when it closes', async () => {
    const t = sourceWorld();
    const runner = await t.load();
    await runner.accept([t.invocation(0)]);
    await until(() => t.sandboxes[0]?.started.length === 1);
    const closed = runner.close();
    t.sandboxes[0]?.end('inv_0');
    await closed;
    expect(t.acked).toEqual([0]);
    expect(await runner.accept([t.invocation(1)])).toBe(false);
    expect(t.sandboxes[0]?.started).toEqual(['inv_0']);
  });

  it('leaves runs that do not end in time in the log when it closes, and does not record them as failed', async () => {
    const t = sourceWorld();
    const runner = await t.load();
    await runner.accept([t.invocation(0)]);
    await until(() => t.sandboxes[0]?.started.length === 1);
    await runner.close(1);
    expect(t.sandboxes[0]?.alive()).toBe(false);
    expect(t.acked).toEqual([]);
    expect(t.journal.commits).toEqual([]);
  });

  it('releases the memory that an outcome holds once it is committed, or when it never will be', async () => {
    const t = sourceWorld();
    const released: string[] = [];
    const holding = (id: string, bytes: number): RunOutcome =>
      ok({ held: { bytes, release: () => void released.push(id) } });
    const runner = await t.load();
    await runner.accept([0, 1, 2].map((offset) => t.invocation(offset)));
    await until(() => t.sandboxes[0]?.started.length === 3);
    let commit = (): void => undefined;
    t.journal.held = new Promise((resolve) => (commit = resolve));
    t.sandboxes[0]?.end('inv_0', holding('inv_0', 1));
    await until(() => t.journal.waiting === 1);
    expect(released).toEqual([]);
    commit();
    await until(() => released.length === 1);
    t.journal.held = new Promise(() => undefined);
    t.sandboxes[0]?.end('inv_1', holding('inv_1', 1));
    await until(() => t.journal.waiting === 1);
    await runner.close(1);
    expect(released).toEqual(['inv_0', 'inv_1']);
  });

  it('commits large outcomes one by one, and small ones together', async () => {
    const t = sourceWorld();
    const runner = await t.load();
    await runner.accept(Array.from({ length: 24 }, (_, offset) => t.invocation(offset)));
    await until(() => t.sandboxes[0]?.started.length === 24);
    const held = (bytes: number) => ok({ held: { bytes, release: () => undefined } });
    for (let n = 0; n < 12; n++) t.sandboxes[0]?.end(`inv_${n}`, held(1_000));
    await until(() => t.acked.length === 12);
    const small = t.journal.commits.length;
    for (let n = 12; n < 24; n++) t.sandboxes[0]?.end(`inv_${n}`, held(6_000_000));
    await until(() => t.acked.length === 24);
    expect(small).toBeLessThan(12);
    expect(t.journal.commits.length - small).toBe(12);
  });

  it('refuses db changes above the limits of a source, reports them on $errors, and starts a new process', async () => {
    const t = sourceWorld();
    t.world.definition = definition({ props: [{ kind: 'db', prop: 'db' }] });
    const runner = await t.load();
    await runner.accept([t.invocation(0)]);
    await until(() => t.sandboxes[0]?.started.length === 1);
    const dbChanges = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`k${n}`, 'x'.repeat(60_000)]));
    t.sandboxes[0]?.end('inv_0', ok({ dbChanges, emits: [{ payload: '"said"', channel: '' }] }));
    await until(() => t.acked.length === 1);
    expect(t.journal.dbOf('dc_1')).toEqual({});
    const [said, , error] = t.journal.records;
    expect(said?.value).toBe('"said"');
    expect(error?.headers['channel']).toBe('$errors');
    expect(error?.value).toContain('DbLimitExceeded');
    await until(() => t.sandboxes[0]?.alive() === false);
    await runner.accept([t.invocation(1)]);
    await until(() => t.sandboxes[1]?.started.length === 1);
    expect(t.sandboxes[1]?.spec.db).toEqual({});
  });

  it('commits what code left after its run, masked, also before the event log holds the source', async () => {
    const t = sourceWorld({ auto: () => ok() });
    const props = [{ kind: 'secret', prop: 'token', secretRef: 'ref' }] as const;
    const bind = async () => ({ token: { kind: 'value' as const, value: 'hunter22' } });
    Object.assign(t.deps, { binder: { versionOf: () => '', freshen: () => undefined, bind } });
    t.world.definition = undefined;
    const runner = await t.load();
    await runner.hook('deploy', definition({ props }), 'o_1', 'inv_hook');
    const before = t.journal.records.length;
    const faraway = 8.64e15;
    t.sandboxes[0]?.spec.onLate?.({ k: 'warning', ts: faraway, msg: 'lost: hunter22' });
    await until(() => t.journal.records.length > before);
    const [line] = t.journal.records.slice(before);
    expect(JSON.parse(line?.value ?? '')).toEqual({ k: 'warning', ts: faraway, msg: 'lost: ********' });
    expect(line?.headers).toMatchObject({ channel: '$logs', emitter: 'dc_1', workspace: 'o_1' });
    // A child must not shift the ids of events by the time that it reports.
    expect(Number(line?.headers['id']?.split('-')[0])).toBeLessThan(10_000);
  });

  it('keeps secrets and endpoint keys out of logs, errors and the event in them', async () => {
    const props = [
      { kind: 'secret', prop: 'token', secretRef: 'ref' },
      { kind: 'http', prop: 'http', key: 'e0123456789abcde', customResponse: false },
    ] as const;
    const t = sourceWorld({
      auto: () =>
        ok({
          status: 'threw',
          emits: [{ payload: '"hunter22"', channel: '' }],
          logs: [{ k: 'console.log', ts: 1, msg: 'with hunter22 at /h/e0123456789abcde' }],
          error: { name: 'Error', message: 'no hunter22', stack: 'hunter22', code: 'Error' },
        }),
    });
    t.world.definition = definition({ props });
    const bind = async () => ({ token: { kind: 'value' as const, value: 'hunter22' } });
    Object.assign(t.deps, { binder: { versionOf: () => '', freshen: () => undefined, bind } });
    const runner = await SourceRunner.load('dc_1', t.deps, () => undefined);
    await runner.accept([t.invocation(0, {}, '{"url":"http://x/h/e0123456789abcde","n":1}')]);
    await until(() => t.acked.length === 1);
    const [emitted, ...said] = t.journal.records.map(({ value }) => value);
    expect(emitted).toBe('"hunter22"');
    expect(said).toHaveLength(3);
    for (const text of said) {
      expect(text).toContain('********');
      expect(text).not.toMatch(/hunter22|e0123456789abcde/);
    }
  });

  it('runs a suspect of killing the host alone, at its place in the lane', async () => {
    const t = sourceWorld();
    const suspects = new Set(['inv_1']);
    const turns: string[] = [];
    let release = (): void => undefined;
    let soloist: Promise<void> | undefined;
    const hostDeaths: HostDeaths = {
      ...NO_HOST_DEATHS,
      isSuspect: (id) => suspects.has(id),
      begin: (ids) => void turns.push(...ids),
      blocked: () => soloist,
      alone: async (id) => {
        turns.push(`alone ${id}`);
        soloist = new Promise((resolve) => (release = resolve));
        return 'run';
      },
      end: (id) => {
        if (!suspects.delete(id)) return;
        soloist = undefined;
        release();
      },
    };
    const runner = await SourceRunner.load('dc_1', { ...t.deps, hostDeaths }, () => undefined);
    await runner.accept([0, 1, 2].map((offset) => t.invocation(offset)));
    await until(() => t.sandboxes[0]?.started.length === 2);
    expect([turns, t.sandboxes[0]?.started]).toEqual([
      ['inv_0', 'alone inv_1'],
      ['inv_0', 'inv_1'],
    ]);
    t.sandboxes[0]?.end('inv_1');
    await until(() => t.sandboxes[0]?.started.length === 3);
    expect(turns).toEqual(['inv_0', 'alone inv_1', 'inv_2']);
  });

  it('ends a run that killed the host each time, with an error, and runs those around it', async () => {
    const t = sourceWorld({ auto: () => ok() });
    const hostDeaths: HostDeaths = {
      ...NO_HOST_DEATHS,
      isSuspect: (id) => id === 'inv_1',
      deathsOf: () => 5,
      alone: () => Promise.resolve('give up'),
    };
    const runner = await SourceRunner.load('dc_1', { ...t.deps, hostDeaths }, () => undefined);
    await runner.accept([0, 1, 2].map((offset) => t.invocation(offset)));
    await until(() => t.acked.length === 3);
    expect(t.sandboxes[0]?.started).toEqual(['inv_0', 'inv_2']);
    const errors = t.journal.records.filter(({ headers }) => headers['channel'] === '$errors');
    expect(errors.map(({ value }) => JSON.parse(value) as unknown)).toMatchObject([
      { original_event: { n: 1 }, error: { code: 'HostEnded', message: expect.stringContaining('5 times') } },
    ]);
  });
});
