import { describe, expect, it } from '@jest/globals';
import { fold } from '#libs/kernel/decider.js';
import { type WorkflowEvent, type WorkflowFace } from '../published.js';
import { type Deployment, workflowDecider, type WorkflowCommand } from './workflow.js';

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

const given = (...events: readonly WorkflowEvent[]) => ({
  when: (command: WorkflowCommand): WorkflowEvent[] => workflowDecider.decide(command, fold(workflowDecider, events)),
});
const create: WorkflowCommand = {
  type: 'Create',
  workflowId: 'p_1',
  userId: 'u_1',
  face: FACE,
  deployment: DEPLOYMENT,
  now: 1,
};
const created = given().when(create);
const deploy = (basedOn: number, changes: Partial<WorkflowFace> = {}): WorkflowCommand => ({
  type: 'Deploy',
  deployment: { ...DEPLOYMENT, deploymentId: 'd_2' },
  basedOn,
  changes,
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

  it('is deleted once, and changes no more', () => {
    expect(given(...created).when({ type: 'Delete', now: 3 })).toEqual([deleted]);
    for (const command of [deploy(1), { type: 'Change', changes: {}, now: 4 }, { type: 'Delete', now: 4 }] as const)
      expect(() => given(...created, deleted).when(command)).toThrow(
        expect.objectContaining({ code: 'workflow.not_found' }),
      );
  });
});
