import { afterEach, describe, expect, it } from '@jest/globals';
import { GoldenEvents } from '#libs/kernel/testing/golden-events.js';
import { ControlPlane } from '#libs/kernel/testing/control-plane.js';
import { type WorkflowDeployed, type WorkflowDraftSaved, type WorkflowEvent } from '../published.js';
import { workflowsContext } from '../context.js';
import { WorkflowCleanUpReactor } from './workflow-clean-up.reactor.js';

const golden = new GoldenEvents(workflowsContext);
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

describe('the deletion of a workflow', () => {
  it('removes the secrets and definitions of all its versions and drafts, also when the first attempt fails halfway', async () => {
    const removed: string[] = [];
    let failures = 1;
    const remove = async (what: string): Promise<void> => {
      if (what === 'h2' && failures-- > 0) throw new Error('the disk is slow');
      removed.push(what);
    };
    const plane = await ControlPlane.start({
      projections: workflowsContext.projections,
      reactors: ({ events }) => [
        new WorkflowCleanUpReactor({
          events,
          vault: { delete: remove },
          blobs: { delete: remove },
          workflowTopics: { remove },
          ticks: { drop: (id) => remove(`ticks of ${id}`) },
        }),
      ],
    });
    closing.push(() => plane.stop());
    const first = golden.read<WorkflowDeployed>('WorkflowDeployed');
    const second = { ...first, data: { ...first.data, version: 2, versionHash: 'h2', secretRefs: ['sec_2'] } };
    await plane.happened('workflow-p_1', golden.read<WorkflowEvent>('WorkflowCreated'));
    await plane.happened('workflow-p_1', first);
    await plane.happened('workflow-p_2', golden.read<WorkflowEvent>('WorkflowCreated'));
    await plane.happened('workflow-p_2', { ...first, data: { ...first.data, versionHash: 'other' } });
    await plane.happened('workflow-p_1', second);
    await plane.happened('workflow-p_1', golden.read<WorkflowDraftSaved>('WorkflowDraftSaved'));
    await plane.idle();
    expect(removed).toEqual([]);
    await plane.happened('workflow-p_1', golden.read<WorkflowEvent>('WorkflowDeleted'));
    await plane.idle();
    const { versionHash, secretRefs } = first.data;
    const { data: draft } = golden.read<WorkflowDraftSaved>('WorkflowDraftSaved');
    expect(new Set(removed)).toEqual(
      new Set([
        'p_1',
        'ticks of p_1',
        ...secretRefs,
        versionHash,
        'sec_2',
        'h2',
        ...draft.secretRefs,
        draft.versionHash,
      ]),
    );
    expect(plane.failures).toEqual([]);
  });
});
