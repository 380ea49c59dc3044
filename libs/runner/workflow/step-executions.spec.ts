import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Outcome } from '#libs/workflow-runs/run-inputs.js';
import { runIdOf } from '#libs/stream-log/invocations.js';
import { HostDeathNotes } from '../host-deaths.js';
import { WorkflowInstallation, step, succeeded, until } from './testing/workflow-world.js';

describe('the executions of a workflow', () => {
  it('start a step again whose process another run ended, three times at most, as the same execution', async () => {
    const installation = new WorkflowInstallation([step('a')]);
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0)]);
    for (let times = 1; times <= 4; times++) {
      await until(() => calls.length === times);
      calls[times - 1]?.interrupt();
    }
    await until(() => installation.statusOf(0) === 'failed');
    expect(calls.map(({ execution: { number, run } }) => [number, run.attempt])).toEqual(Array(4).fill([1, 1]));
    expect(installation.errors()).toMatchObject([{ error: { code: 'ProcessExited', cellId: 'c_a' } }]);
  });

  it('have the memory of the version in force, also in runs that began before it', async () => {
    const steps = [step('a'), step('b')];
    const installation = new WorkflowInstallation(steps, { memoryMb: 64 });
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0)]);
    await until(() => calls.length === 1);
    installation.deploy('d_2', steps, { memoryMb: 512 });
    calls[0]?.end(succeeded());
    await until(() => calls.length === 2);
    expect(calls.map(({ memoryMb }) => memoryMb)).toEqual([64, 512]);
  });

  // docs/reference/workflows.md#run-streams
  it('tell open streams of their lines while they go on', async () => {
    const installation = new WorkflowInstallation([step('a', { loop: { list: 'all', concurrency: 2 } })]);
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0)]);
    await until(() => calls.length === 1);
    calls[0]?.end({ kind: 'listed', list: '[1,2]', count: 2 });
    await until(() => calls.length === 3);
    const lines = [{ k: 'stdout', ts: 1, msg: 'b' }];
    await calls[2]?.onLines(4, lines);
    expect(installation.published).toEqual([
      { topic: 'runs.p_1', key: 'p_1', headers: { kind: 'lines' }, value: expect.any(String) },
    ]);
    expect(JSON.parse(installation.published[0]?.value ?? '')).toEqual({
      runId: runIdOf('inv_0'),
      namespace: 'a',
      item: 1,
      from: 4,
      lines,
    });
  });

  it('44: end the code of a step whose run is cancelled, and of no other', async () => {
    const installation = new WorkflowInstallation();
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0), installation.event(1)]);
    await until(() => calls.length === 2);
    await runner.accept([installation.event(2, { kind: 'cancel', run: runIdOf('inv_0') })]);
    await until(() => installation.statusOf(0) === 'cancelled');
    expect(calls.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    calls[0]?.end(succeeded());
    calls[1]?.end(succeeded());
    await until(() => installation.statusOf(1) === 'succeeded');
    expect(installation.statusOf(0)).toBe('cancelled');
  });
});

describe('a run that ends its server', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'sluice-test-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const notesOf = (): HostDeathNotes =>
    HostDeathNotes.open(folder, (error) => {
      throw error;
    });
  const dieDuring = (run: string): void => notesOf().begin([run]);
  /** Dies while the run executes alone. */
  const dieAlone = async (run: string): Promise<void> => void (await notesOf().alone(run));

  it('is given up after two deaths and three more while it executes alone', async () => {
    const installation = new WorkflowInstallation([step('a', { onError: 'continue' }), step('b')]);
    const run = runIdOf('inv_0');
    for (let death = 1; death <= 2; death++) dieDuring(`${run}/1`);
    for (let death = 1; death <= 3; death++) await dieAlone(`${run}/1`);
    installation.hostDeaths = notesOf();
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0), installation.event(1)]);
    await until(() => installation.statusOf(0) === 'failed');
    expect(installation.errors()).toMatchObject([{ error: { code: 'HostEnded', cellId: 'c_a' } }]);
    await until(() => calls.length === 1);
    expect(calls[0]?.context).toMatchObject({ id: runIdOf('inv_1') });
  });

  it('executes alone once it is suspected, and is free of it when its step is durable', async () => {
    const installation = new WorkflowInstallation([step('a'), step('b')]);
    for (let death = 1; death <= 2; death++) dieDuring(`${runIdOf('inv_1')}/1`);
    const notes = (installation.hostDeaths = notesOf());
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0), installation.event(1), installation.event(2)]);
    await until(() => calls.length > 0);
    let alone = 0;
    const runOf = (at: number): unknown => calls[at]?.context['id'];
    for (let at = 0; at < calls.length || installation.statusOf(1) !== 'succeeded'; at++) {
      await until(() => calls.length > at);
      if (runOf(at) === runIdOf('inv_1') && calls[at]?.step.namespace === 'a') {
        alone++;
        const meanwhile = calls.length;
        await new Promise((resolve) => setTimeout(resolve, 20));
        expect(calls).toHaveLength(meanwhile);
        expect(notes.isSuspect(`${runIdOf('inv_1')}/1`)).toBe(true);
      }
      calls[at]?.end(succeeded());
    }
    expect([alone, notes.isSuspect(`${runIdOf('inv_1')}/1`)]).toEqual([1, false]);
    for (const run of [0, 2]) await until(() => installation.statusOf(run) === 'succeeded');
  });

  it('blocks no other run while it waits', async () => {
    const [waiting, suspect] = [runIdOf('inv_0'), runIdOf('inv_1')];
    const installation = new WorkflowInstallation();
    for (let death = 1; death <= 2; death++) dieDuring(`${suspect}/1`);
    installation.hostDeaths = notesOf();
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0)]);
    await until(() => calls.length === 1);
    calls[0]?.end({ ...succeeded(), flow: { kind: 'delay', ms: 60_000 } } as Outcome);
    await until(() => installation.statusOf(0) === 'waiting');
    await runner.accept([installation.event(1)]);
    await until(() => calls.length === 2);
    expect(calls.map(({ context }) => context['id'])).toEqual([waiting, suspect]);
  });

  it('is one item of a loop, and not the others', async () => {
    const installation = new WorkflowInstallation([step('a', { loop: { list: '[]', concurrency: 2 } })]);
    // The list is the first execution of the run.
    const item = `${runIdOf('inv_0')}/3`;
    for (let death = 1; death <= 2; death++) dieDuring(item);
    for (let death = 1; death <= 3; death++) await dieAlone(item);
    const notes = (installation.hostDeaths = notesOf());
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0)]);
    await until(() => calls.length === 1);
    calls[0]?.end({ kind: 'listed', list: '[1,2]', count: 2 });
    await until(() => calls.length === 2);
    expect([calls[1]?.item?.index, notes.isSuspect(item)]).toEqual([0, true]);
    calls[1]?.end(succeeded());
    await until(() => installation.statusOf(0) === 'failed');
    expect(calls).toHaveLength(2);
    expect(installation.errors()).toMatchObject([{ error: { code: 'HostEnded', cellId: 'c_a' } }]);
  });

  it('stays suspected until the outcome of its step is durable', async () => {
    const installation = new WorkflowInstallation([step('a')]);
    const run = runIdOf('inv_0');
    for (let death = 1; death <= 2; death++) dieDuring(`${run}/1`);
    const notes = (installation.hostDeaths = notesOf());
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0)]);
    await until(() => calls.length === 1);
    installation.journal.failures = 1_000;
    calls[0]?.end(succeeded());
    await until(() => installation.journal.failures < 1_000);
    expect(notes.isSuspect(`${run}/1`)).toBe(true);
    installation.journal.failures = 0;
    await until(() => installation.statusOf(0) === 'succeeded');
    await until(() => !notes.isSuspect(`${run}/1`));
  });
});
