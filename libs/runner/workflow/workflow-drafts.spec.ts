import { describe, expect, it } from '@jest/globals';
import { originOf, runErrorOf } from '#libs/workflow-runs/run-state.js';
import { WorkflowInstallation, step, succeeded, until } from './testing/workflow-world.js';

const TEST = { test: '1', draft: 'd_draft' } as const;

/** An installation with a draft of two steps, beside a version of one. */
const withDraft = (): WorkflowInstallation => {
  const installation = new WorkflowInstallation([step('live')]);
  installation.draft('d_draft', [step('a'), step('b')]);
  return installation;
};

describe('a test run of a draft', () => {
  it('runs the steps of the draft, and has no version', async () => {
    const installation = withDraft();
    const { runner, calls } = await installation.process(() => succeeded());
    await runner.accept([installation.event(0, TEST), installation.event(1)]);
    await until(() => installation.statusOf(0) === 'succeeded' && installation.statusOf(1) === 'succeeded');
    const names = calls.map(({ step: { namespace } }) => namespace);
    expect(names.filter((name) => name !== 'live')).toEqual(['a', 'b']);
    expect(names).toContain('live');
    expect(installation.run(0).head.version).toEqual({ deploymentId: null, version: null });
    expect(originOf(installation.run(0))).toMatchObject({ test: true, startsWith: 'd_draft' });
  });

  it('goes on after the end of its process', async () => {
    const installation = withDraft();
    const first = await installation.process();
    await first.runner.accept([installation.event(0, TEST)]);
    await until(() => first.calls.length === 1);
    const { calls } = await installation.process(() => succeeded());
    await until(() => installation.statusOf(0) === 'succeeded');
    expect(calls.map(({ step: { namespace } }) => namespace)).toEqual(['a', 'b']);
  });

  it.each([
    ['discarded', undefined],
    ['replaced', [step('c')]],
  ])('fails when the draft is %s while it executes', async (_, steps) => {
    const installation = withDraft();
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0, TEST)]);
    await until(() => calls.length === 1);
    installation.draft('d_draft');
    if (steps) installation.draft('d_next', steps);
    calls[0]?.end(succeeded());
    await until(() => installation.statusOf(0) === 'failed');
    expect(runErrorOf(installation.run(0))).toMatchObject({ code: 'DraftDiscarded', namespace: 'a' });
    expect(calls).toHaveLength(1);
    expect(installation.errors()).toEqual([]);
  });

  it('fails when the draft is gone before its start, and after the end of its process', async () => {
    const installation = withDraft();
    const first = await installation.process();
    await first.runner.accept([installation.event(0, TEST)]);
    await until(() => first.calls.length === 1);
    installation.draft('d_draft');
    const { runner, calls } = await installation.process();
    await until(() => installation.statusOf(0) === 'failed');
    await runner.accept([installation.event(1, TEST), installation.event(2)]);
    await until(() => installation.statusOf(1) === 'failed' && calls.length === 1);
    expect(runErrorOf(installation.run(1))).toMatchObject({ code: 'DraftDiscarded', namespace: null });
    expect(calls[0]?.step.namespace).toBe('live');
  });
});
