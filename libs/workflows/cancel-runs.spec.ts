import { afterEach, describe, expect, it } from '@jest/globals';
import { ControlPlane } from '#libs/kernel/testing/control-plane.js';
import { GoldenEvents } from '#libs/kernel/testing/golden-events.js';
import { CancelRunsReactor } from './cancel-runs.reactor.js';
import { workflowsContext } from './context.js';
import { type WorkflowChanged, type WorkflowEvent, type WorkflowTopics } from './published.js';

const golden = new GoldenEvents(workflowsContext);
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

describe('a workflow that was deactivated', () => {
  it('has its runs cancelled when the request said so, under one cause however often it is tried', async () => {
    const asked: Parameters<WorkflowTopics['cancelRuns']>[0][] = [];
    const cancelRuns: WorkflowTopics['cancelRuns'] = async (request) => {
      asked.push(request);
      if (asked.length === 1) throw new Error('the log is away');
    };
    const plane = await ControlPlane.start({
      projections: workflowsContext.projections,
      reactors: () => [new CancelRunsReactor({ workflowTopics: { cancelRuns } })],
    });
    closing.push(() => plane.stop());
    await plane.happened('workflow-p_1', golden.read<WorkflowEvent>('WorkflowCreated'));
    await plane.happened('workflow-p_1', golden.read<WorkflowChanged>('WorkflowChanged'));
    await plane.happened('workflow-p_1', golden.read<WorkflowChanged>('WorkflowChanged.cancelling'));
    await plane.idle();
    expect(asked).toHaveLength(2);
    expect(asked[1]).toEqual(asked[0]);
    expect(asked[0]).toMatchObject({ workflowId: 'p_1', cause: expect.stringMatching(/./) });
  });
});
