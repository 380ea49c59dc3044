import { describe, expect, it } from '@jest/globals';
import { GoldenEvents, type GoldenName } from '#libs/kernel/testing/golden-events.js';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { workflowsContext } from './context.js';
import { externalIdDecider } from './domain/external-id.js';
import { runUrlKeyDecider } from './domain/run-url-key.js';
import { workflowDecider } from './domain/workflow.js';
import { type RunUrlKeyCreated, type WorkflowEvent, type WorkflowExternalIdEvent } from './published.js';
import { runnableWorkflows, WorkflowsView } from './workflows-view.js';

const golden = new GoldenEvents(workflowsContext);
const ID = 'p_0mf3k2a9b7c6d5e4f3';
const DRAFT = 'd_0mf3k2a9b7c6d5e4f5';
const KEY = 'e0mf3k2a9b7c6d5e';
const createdAt = 1_763_712_000_000;
const PUBLIC_KEY = 'MCowBQYDK2VwAyEAiQAD1HyVobsWPshrjPIQcGxsyyknX+sCnGrkdBrs4ws=';

const after = (...names: GoldenName<WorkflowEvent>[]) => golden.after(workflowDecider, ...names);
const idAfter = (...names: GoldenName<WorkflowExternalIdEvent>[]) => golden.after(externalIdDecider, ...names);

/** The type is exhaustive, so a new event does not compile without its case. */
const CASES: Record<(WorkflowEvent | WorkflowExternalIdEvent | RunUrlKeyCreated)['type'], () => void> = {
  WorkflowCreated: () =>
    expect(after('WorkflowCreated')).toEqual({
      status: 'exists',
      workflow: {
        workflowId: ID,
        userId: 'u_0k2f9x8a1b3c5d7e9f',
        name: 'Orders',
        description: 'Takes orders',
        externalId: 'shop/orders',
        managedBy: 'ci',
        active: true,
        deployed: null,
        draft: null,
        switchedAt: createdAt,
        createdAt,
        updatedAt: createdAt,
      },
    }),
  WorkflowDeployed: () => {
    expect(after('WorkflowCreated', 'WorkflowDeployed')).toMatchObject({
      workflow: { name: 'Orders', deployed: { version: 1, deploymentId: 'd_0mf3k2a9b7c6d5e4f3' } },
    });
    expect(after('WorkflowCreated', 'WorkflowDeployed.listening')).toMatchObject({
      workflow: { deployed: { triggers: [{ kind: 'event', emitterId: 'dc_*' }, { kind: 'source' }] } },
    });
    expect(after('WorkflowCreated', 'WorkflowDeployed.owned')).toMatchObject({
      workflow: { deployed: { triggers: [{ kind: 'event' }, { kind: 'source', isOwned: true }] } },
    });
    expect(after('WorkflowCreated', 'WorkflowDeployed.restored')).toMatchObject({
      workflow: { deployed: { version: 3, restoredFrom: 1 } },
    });
    expect(after('WorkflowCreated', 'WorkflowDeployed.tool')).toMatchObject({
      workflow: { deployed: { triggers: [{ kind: 'tool', name: 'sync_orders', isNamed: true }] } },
    });
    expect(after('WorkflowCreated', 'WorkflowDeployed.timer')).toMatchObject({
      workflow: { switchedAt: createdAt, deployed: { triggers: [{ kind: 'timer', overlap: 'skip' }] } },
    });
  },
  WorkflowChanged: () => {
    const changed = after('WorkflowCreated', 'WorkflowDeployed', 'WorkflowChanged');
    expect(changed).toMatchObject({
      workflow: { name: 'Orders 2', active: false, updatedAt: createdAt + 1_000, deployed: { version: 1 } },
    });
    expect(after('WorkflowCreated', 'WorkflowDeployed', 'WorkflowChanged.cancelling')).toEqual(changed);
  },
  WorkflowDraftSaved: () => {
    expect(after('WorkflowCreated', 'WorkflowDraftSaved')).toMatchObject({
      workflow: {
        name: 'Orders',
        deployed: null,
        draft: { draftId: DRAFT, face: { name: 'Orders 3' } },
        updatedAt: createdAt + 2_000,
      },
    });
    expect(after('WorkflowCreated', 'WorkflowDraftSaved', 'WorkflowDraftSaved.owned')).toMatchObject({
      workflow: { draft: { face: { externalId: 'shop/orders3' }, triggers: [{ emitterId: '', isOwned: true }, {}] } },
    });
  },
  WorkflowDraftDiscarded: () =>
    expect(after('WorkflowCreated', 'WorkflowDeployed', 'WorkflowDraftSaved', 'WorkflowDraftDiscarded')).toMatchObject({
      workflow: { deployed: { version: 1 }, draft: null, updatedAt: createdAt + 3_000 },
    }),
  WorkflowDeleted: () =>
    expect(after('WorkflowCreated', 'WorkflowDeleted')).toEqual({ status: 'deleted', externalId: 'shop/orders' }),
  WorkflowExternalIdReserved: () =>
    expect(idAfter('WorkflowExternalIdReserved')).toEqual({ workflowId: ID, reservedAt: createdAt }),
  WorkflowExternalIdReleased: () =>
    expect(idAfter('WorkflowExternalIdReserved', 'WorkflowExternalIdReleased')).toBeUndefined(),
  RunUrlKeyCreated: () =>
    expect(golden.after(runUrlKeyDecider, 'RunUrlKeyCreated')).toEqual({
      secretRef: 'sec_0mf3k2a9b7c6d5e4f3',
      publicKey: PUBLIC_KEY,
    }),
};

describe('every version of an event of workflows', () => {
  it.each(Object.entries(CASES))('%s folds', (_, check) => check());
});

describe('the view of workflows', () => {
  const viewAfter = (...names: GoldenName<WorkflowEvent>[]): WorkflowsView => {
    const view = new WorkflowsView();
    for (const name of names) view.apply(recorded(`workflow-${ID}`, golden.read<WorkflowEvent>(name)));
    return view;
  };

  it('knows a workflow until its deletion, with its version and its draft', () => {
    expect(viewAfter('WorkflowCreated', 'WorkflowDraftSaved').find(ID)).toMatchObject({
      deploymentId: null,
      version: null,
      draft: { id: DRAFT, settings: { queueSize: 100 } },
      settings: { queueSize: 100 },
    });
    expect(viewAfter('WorkflowCreated', 'WorkflowDeployed').find(ID)).toMatchObject({
      id: ID,
      name: 'Orders',
      active: true,
      version: 1,
      deploymentId: 'd_0mf3k2a9b7c6d5e4f3',
      draft: null,
      settings: { queueSize: 100 },
    });
    const gone = viewAfter('WorkflowCreated', 'WorkflowDeployed', 'WorkflowDeleted');
    expect(gone.find(ID)).toBeUndefined();
    expect(gone.endpoint(KEY)).toBeUndefined();
    expect(gone.versions(ID)).toEqual([]);
    expect(gone.versionHash(ID, 'd_0mf3k2a9b7c6d5e4f3')).toBeUndefined();
  });

  it('serves the endpoints of an active workflow only', () => {
    expect(viewAfter('WorkflowCreated', 'WorkflowDeployed').endpoint(KEY)).toMatchObject({
      workflowId: ID,
      triggerId: 'hi_0mf3k2a9b7c6d5e4f3',
      triggerName: 'http',
      response: 'static',
      staticResponse: { status: 202 },
      auth: { salt: '00112233445566778899aabbccddeeff' },
    });
    expect(viewAfter('WorkflowCreated', 'WorkflowDeployed', 'WorkflowChanged').endpoint(KEY)).toBeUndefined();
  });

  it('has the tools of the active workflows of a workspace', () => {
    const view = viewAfter('WorkflowCreated', 'WorkflowDeployed.tool');
    const trigger = golden.read<WorkflowEvent & { type: 'WorkflowDeployed' }>('WorkflowDeployed.tool').data.triggers[0];
    expect([...view.tools('o_1')]).toEqual([{ workflowId: ID, workflowName: 'Orders', createdAt, trigger }]);
    expect([...view.tools('o_2')]).toEqual([]);
    expect([...viewAfter('WorkflowCreated', 'WorkflowDeployed').tools('o_1')]).toEqual([]);
    for (const last of ['WorkflowDeployed', 'WorkflowChanged', 'WorkflowDeleted'] as const)
      expect([...viewAfter('WorkflowCreated', 'WorkflowDeployed.tool', last).tools('o_1')]).toEqual([]);
  });

  it('keeps the place of a workflow among those with tools, as long as it has some', () => {
    const view = new WorkflowsView();
    const tell = (id: string, name: GoldenName<WorkflowEvent>) =>
      view.apply(recorded(`workflow-${id}`, golden.read<WorkflowEvent>(name)));
    const found = () => [...view.tools('o_1')].map(({ workflowId }) => workflowId);
    for (const id of ['p_2', 'p_1']) {
      const created = golden.read<WorkflowEvent & { type: 'WorkflowCreated' }>('WorkflowCreated');
      view.apply(recorded(`workflow-${id}`, { ...created, data: { ...created.data, workflowId: id } }));
      tell(id, 'WorkflowDeployed.tool');
    }
    tell('p_2', 'WorkflowDeployed.tool');
    expect(found()).toEqual(['p_2', 'p_1']);
    tell('p_2', 'WorkflowDeployed');
    tell('p_2', 'WorkflowDeployed.tool');
    expect(found()).toEqual(['p_1', 'p_2']);
  });

  it('leads a run to the version that it is pinned to, and to no other', async () => {
    const view = viewAfter('WorkflowCreated', 'WorkflowDeployed');
    const deployed = { workflowId: ID, deploymentId: 'd_0mf3k2a9b7c6d5e4f3', version: 1, settings: {}, steps: [] };
    const asked: string[] = [];
    const blobs = {
      get: async (hash: string) => {
        asked.push(hash);
        return JSON.stringify({ deployed });
      },
    };
    const workflows = runnableWorkflows(view, blobs);
    expect(await workflows.version(ID, 'd_0mf3k2a9b7c6d5e4f3')).toEqual(deployed);
    expect(await workflows.version(ID, 'd_other')).toBeUndefined();
    expect(await workflows.version('p_other', 'd_0mf3k2a9b7c6d5e4f3')).toBeUndefined();
    expect(asked).toEqual([
      golden.read<WorkflowEvent & { type: 'WorkflowDeployed' }>('WorkflowDeployed').data.versionHash,
    ]);
  });
});
