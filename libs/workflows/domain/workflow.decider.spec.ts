import { describe, expect, it } from '@jest/globals';
import { fold } from '#libs/kernel/decider.js';
import { type WorkflowEvent, type WorkflowFace } from '../published.js';
import { type Deployment, type Draft, workflowDecider, type WorkflowCommand } from './workflow.js';

const FACE: WorkflowFace = { name: 'Orders', description: null, externalId: 'x', managedBy: null, active: true };
const DEPLOYMENT: Deployment = {
  deploymentId: 'd_1',
  userId: 'u_1',
  settings: {
    errorNotification: true,
    timeoutSeconds: null,
    memoryMb: 256,
    concurrency: null,
    holdSlot: false,
    throttle: null,
    queueSize: 100,
    autoRetry: null,
    dataRetention: null,
    publicSse: false,
  },
  triggers: [],
  versionHash: 'h1',
  secretRefs: [],
};

const DRAFT: Draft = {
  draftId: 'd_draft',
  settings: DEPLOYMENT.settings,
  triggers: [],
  versionHash: 'h2',
  secretRefs: [],
  face: {},
};

const given = (...events: readonly WorkflowEvent[]) => ({
  when: (command: WorkflowCommand): WorkflowEvent[] => workflowDecider.decide(command, fold(workflowDecider, events)),
});
const create: WorkflowCommand = {
  type: 'Create',
  workflowId: 'p_1',
  userId: 'u_1',
  face: FACE,
  first: { deployment: DEPLOYMENT },
  now: 1,
};
const created = given().when(create);
const deploy = (
  version: number,
  changes: Partial<WorkflowFace> = {},
  draftId: string | null = null,
): WorkflowCommand => ({
  type: 'Deploy',
  deployment: { ...DEPLOYMENT, deploymentId: 'd_2' },
  basedOn: { version, draftId },
  changes,
  now: 2,
});
const saving = (draftId: string, before: string | null = null): WorkflowCommand => ({
  type: 'SaveDraft',
  draft: { ...DRAFT, draftId },
  basedOn: { version: 1, draftId: before },
  changes: {},
  now: 2,
});
const deleted: WorkflowEvent = { type: 'WorkflowDeleted', data: { deletedAt: 3 } };

describe('a workflow', () => {
  it('is created together with its first version', () =>
    expect(created).toEqual([
      { type: 'WorkflowCreated', data: { workflowId: 'p_1', userId: 'u_1', ...FACE, createdAt: 1 } },
      { type: 'WorkflowDeployed', data: { ...DEPLOYMENT, version: 1, deployedAt: 1 } },
    ]));

  it('is created once under its id', () => {
    expect(() => given(...created).when(create)).toThrow(expect.objectContaining({ code: 'workflow.busy' }));
    expect(() => given(...created, deleted).when(create)).toThrow(expect.objectContaining({ code: 'workflow.busy' }));
  });

  it('counts its versions', () =>
    expect(given(...created).when(deploy(1))).toMatchObject([
      { type: 'WorkflowDeployed', data: { deploymentId: 'd_2', version: 2, deployedAt: 2 } },
    ]));

  it('refuses a version that was made from another than the one in force', () => {
    const second = given(...created).when(deploy(1));
    expect(() => given(...created, ...second).when(deploy(1))).toThrow(
      expect.objectContaining({ code: 'workflow.busy' }),
    );
  });

  it('changes with a version in one write', () =>
    expect(given(...created).when(deploy(1, { description: 'd' }))).toMatchObject([
      { type: 'WorkflowChanged', data: { ...FACE, description: 'd', changedAt: 2 } },
      { type: 'WorkflowDeployed' },
    ]));

  it('changes what is given, and nothing when all is as it was', () => {
    const change = (changes: Partial<WorkflowFace>): WorkflowEvent[] =>
      given(...created).when({ type: 'Change', changes, now: 2 });
    expect(change({ active: false })).toEqual([
      { type: 'WorkflowChanged', data: { ...FACE, active: false, changedAt: 2 } },
    ]);
    expect(change({ active: true, name: 'Orders' })).toEqual([]);
  });

  it('has its runs cancelled, also when it is inactive already', () => {
    const off: WorkflowEvent = { type: 'WorkflowChanged', data: { ...FACE, active: false, changedAt: 2 } };
    const command = { type: 'Change', changes: { active: false, cancelsRuns: true }, now: 3 } as const;
    expect(given(...created, off).when(command)).toEqual([
      { type: 'WorkflowChanged', data: { ...FACE, active: false, cancelsRuns: true, changedAt: 3 } },
    ]);
  });

  it('may begin with a draft, and is active only once it is deployed', () => {
    const first = { ...create, face: { ...FACE, active: false }, first: { draft: DRAFT } };
    const drafted = given().when(first);
    expect(drafted).toMatchObject([{ type: 'WorkflowCreated' }, { type: 'WorkflowDraftSaved', data: { savedAt: 1 } }]);
    const activate = { type: 'Change', changes: { active: true }, now: 2 } as const;
    expect(() => given(...drafted).when(activate)).toThrow(expect.objectContaining({ code: 'workflow.not_deployed' }));
    expect(given(...drafted).when(deploy(0, { active: true }, 'd_draft'))).toMatchObject([
      { type: 'WorkflowChanged', data: { active: true } },
      { type: 'WorkflowDeployed', data: { version: 1 } },
      { type: 'WorkflowDraftDiscarded', data: { draftId: 'd_draft', discardedAt: 2 } },
    ]);
  });

  it('has one draft, which a request or any deployment discards', () => {
    const one = given(...created).when(saving('d_draft'));
    expect(one).toEqual([{ type: 'WorkflowDraftSaved', data: { ...DRAFT, savedAt: 2 } }]);
    const replaced = given(...created, ...one).when(saving('d_other', 'd_draft'));
    expect(replaced).toMatchObject([{ type: 'WorkflowDraftSaved', data: { draftId: 'd_other' } }]);
    const discarded = [{ type: 'WorkflowDraftDiscarded', data: { draftId: 'd_draft', discardedAt: 3 } }];
    const history = [...created, ...one];
    expect(given(...history).when({ type: 'DiscardDraft', now: 3 })).toEqual(discarded);
    expect(given(...history).when({ type: 'Change', changes: {}, deploys: 'd_draft', now: 3 })).toEqual(discarded);
    expect(() => given(...created).when({ type: 'DiscardDraft', now: 3 })).toThrow(
      expect.objectContaining({ code: 'workflow.no_draft' }),
    );
  });

  it('refuses what was made from another draft', () => {
    const history = [...created, ...given(...created).when(saving('d_draft'))];
    const late: readonly WorkflowCommand[] = [
      deploy(1),
      deploy(1, {}, 'd_other'),
      saving('d_other'),
      { type: 'Change', changes: {}, deploys: 'd_other', now: 3 },
    ];
    for (const command of late)
      expect(() => given(...history).when(command)).toThrow(expect.objectContaining({ code: 'workflow.busy' }));
  });

  it('is deleted once, and changes no more', () => {
    expect(given(...created).when({ type: 'Delete', now: 3 })).toEqual([deleted]);
    for (const command of [deploy(1), { type: 'Change', changes: {}, now: 4 }, { type: 'Delete', now: 4 }] as const)
      expect(() => given(...created, deleted).when(command)).toThrow(
        expect.objectContaining({ code: 'workflow.not_found' }),
      );
  });
});
