import { afterEach, describe, expect, it } from '@jest/globals';
import { GoldenEvents } from '#libs/kernel/testing/golden-events.js';
import { ControlPlane } from '#libs/kernel/testing/control-plane.js';
import { workflowsContext } from '../context.js';
import { type WorkflowDeployed, type WorkflowDraftSaved, type WorkflowEvent } from '../published.js';
import { DraftCleanUpReactor } from './draft-clean-up.reactor.js';

const golden = new GoldenEvents(workflowsContext);
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const draft = (draftId: string, ...secretRefs: string[]): WorkflowDraftSaved => {
  const { type, data } = golden.read<WorkflowDraftSaved>('WorkflowDraftSaved');
  return { type, data: { ...data, draftId, versionHash: `blob of ${draftId}`, secretRefs } };
};
const version = (...secretRefs: string[]): WorkflowDeployed => {
  const { type, data } = golden.read<WorkflowDeployed>('WorkflowDeployed');
  return { type, data: { ...data, secretRefs } };
};
const discarded = (draftId: string): WorkflowEvent => ({
  type: 'WorkflowDraftDiscarded',
  data: { draftId, discardedAt: 1 },
});

describe('the end of a draft', () => {
  const start = async () => {
    const removed: string[] = [];
    let failures = 1;
    const remove = async (what: string): Promise<void> => {
      if (failures-- > 0) throw new Error('the disk is slow');
      removed.push(what);
    };
    const plane = await ControlPlane.start({
      projections: workflowsContext.projections,
      reactors: ({ events }) => [
        new DraftCleanUpReactor({ events, vault: { delete: remove }, blobs: { delete: remove } }),
      ],
    });
    closing.push(() => plane.stop());
    const happened = async (...events: readonly WorkflowEvent[]): Promise<readonly string[]> => {
      for (const event of events) await plane.happened('workflow-p_1', event);
      await plane.idle();
      return removed.splice(0);
    };
    await happened(golden.read<WorkflowEvent>('WorkflowCreated'), version('of v1'));
    return happened;
  };

  it('removes its blob and the secrets that nothing else uses, also when the first attempt fails', async () => {
    const happened = await start();
    expect(await happened(draft('one', 'of v1', 'of one', 'of both'))).toEqual([]);
    expect(await happened(draft('two', 'of both', 'of two'))).toEqual(['of one', 'blob of one']);
    expect(await happened(discarded('two'))).toEqual(['of both', 'of two', 'blob of two']);
  });

  it('leaves the secrets to the version that it became', async () => {
    const happened = await start();
    await happened(draft('one', 'of one', 'of v1'));
    expect(await happened(version('of one'), discarded('one'))).toEqual(['blob of one']);
    expect(await happened(draft('two', 'of v1', 'of two'))).toEqual([]);
    expect(await happened(version('of v3'), discarded('two'))).toEqual(['of two', 'blob of two']);
  });
});
