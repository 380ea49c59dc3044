import { describe, expect, it } from '@jest/globals';
import { given } from '#libs/kernel/testing/decider-specification.js';
import { type SourceEvent } from '../published.js';
import { definition, deploymentStarted } from '../testing/definitions.js';
import {
  checkNotStale,
  deployedSource,
  idleSource,
  sourceDecider,
  type SourceCommand,
  type SourceFace,
  type SourceRecord,
} from './source.js';

const startDeployment: SourceCommand = {
  type: 'StartDeployment',
  sourceId: 'dc_1',
  userId: 'u_1',
  name: 'Hello',
  nameSlug: 'hello',
  definition: definition(),
  active: true,
  now: 1_000,
};
const failure = { reason: 'hook activate failed', observations: [{ k: 'hook', ts: 1, h: 'activate' as const }] };
const face = (over: Partial<SourceFace> = {}): SourceFace => ({
  name: 'Hello',
  nameSlug: 'hello',
  active: true,
  definition: definition(),
  ...over,
});
const update = (next: SourceFace, basedOn = 2_000): SourceCommand => ({
  type: 'StartUpdate',
  next,
  basedOn,
  now: 3_000,
});
const updateStarted = (next: SourceFace): SourceEvent => ({
  type: 'SourceUpdateStarted',
  data: { ...next, startedAt: 3_000 },
});

const deploying: SourceEvent[] = [deploymentStarted()];
const deployed: SourceEvent[] = [...deploying, { type: 'SourceDeployed', data: { deployedAt: 2_000 } }];
const renamed = face({ name: 'World', nameSlug: 'world' });
const updating: SourceEvent[] = [...deployed, updateStarted(renamed)];
const deleting: SourceEvent[] = [...deployed, { type: 'SourceDeletionStarted', data: { startedAt: 3_000 } }];
const failedDeployment: SourceEvent[] = [
  ...deploying,
  { type: 'SourceDeploymentFailed', data: { ...failure, failedAt: 2_000 } },
];
const deleted: SourceEvent[] = [...deleting, { type: 'SourceDeleted', data: { deletedAt: 4_000 } }];

const HISTORIES = { none: [], deploying, deployed, updating, deleting, failedDeployment, deleted } as const;
type History = keyof typeof HISTORIES;

const secret = (prop: string, secretRef: string) => ({ kind: 'secret', prop, secretRef }) as const;

describe('deployment of a source', () => {
  it('starts once', () => {
    given(sourceDecider).when(startDeployment).then(deploymentStarted());
  });

  it('ends with an active source, created at that time', () => {
    given(sourceDecider, deploying)
      .when({ type: 'FinishDeployment', now: 2_000 })
      .then({ type: 'SourceDeployed', data: { deployedAt: 2_000 } });
    given(sourceDecider, deploying)
      .when({ type: 'FinishDeployment', now: 2_000 })
      .thenState((state) => {
        expect(deployedSource(state)).toMatchObject({ active: true, createdAt: 2_000, updatedAt: 2_000 });
      });
  });

  it('ends without a source when it failed', () => {
    given(sourceDecider, deploying)
      .when({ type: 'FailDeployment', ...failure, now: 2_000 })
      .then({ type: 'SourceDeploymentFailed', data: { ...failure, failedAt: 2_000 } });
    given(sourceDecider, deploying)
      .when({ type: 'FailDeployment', ...failure, now: 2_000 })
      .thenState((state) => {
        expect(state.status).toBe('gone');
        expect(deployedSource(state)).toBeUndefined();
      });
  });
});

describe('update of a source', () => {
  it('names the next state, which only its end puts in force', () => {
    given(sourceDecider, deployed).when(update(renamed)).then(updateStarted(renamed));
    given(sourceDecider, deployed)
      .when(update(renamed))
      .thenState((state) => {
        expect(state).toMatchObject({ status: 'updating', source: { name: 'Hello' }, next: { name: 'World' } });
      });
    given(sourceDecider, updating)
      .when({ type: 'FinishUpdate', now: 4_000 })
      .thenState((state) => {
        expect(deployedSource(state)).toMatchObject({
          name: 'World',
          nameSlug: 'world',
          createdAt: 2_000,
          updatedAt: 4_000,
        });
      });
  });

  it('leaves the source as it was when it failed', () => {
    given(sourceDecider, updating)
      .when({ type: 'FailUpdate', ...failure, now: 4_000 })
      .then({ type: 'SourceUpdateFailed', data: { ...failure, failedAt: 4_000 } });
    given(sourceDecider, updating)
      .when({ type: 'FailUpdate', ...failure, now: 4_000 })
      .thenState((state) => {
        expect(deployedSource(state)).toMatchObject({ name: 'Hello', nameSlug: 'hello', updatedAt: 2_000 });
      });
  });

  it('writes no event when nothing changes', () => {
    given(sourceDecider, deployed).when(update(face())).thenNothingHappened();
  });

  it.each<[string, Partial<SourceFace>]>([
    ['code', { definition: definition({ bundleHash: 'bundle-2' }) }],
    ['a value', { definition: definition({ props: [{ kind: 'value', prop: 'a', value: 1 }] }) }],
    ['the state', { active: false }],
  ])('starts when %s changes', (_, over) => {
    given(sourceDecider, deployed)
      .when(update(face(over)))
      .then(updateStarted(face(over)));
  });

  it('is refused when it is based on an outdated record', () => {
    given(sourceDecider, deployed)
      .when(update(renamed, 1_999))
      .thenThrows('source.busy', /changed by another request/);
  });

  // docs/reference/rest-api.md#if-updated-at
  it('gets a later second, so that two updates of one second differ', () => {
    given(sourceDecider, updating)
      .when({ type: 'FinishUpdate', now: 2_100 })
      .then({ type: 'SourceUpdated', data: { updatedAt: 3_000 } });
  });

  it('lists the secrets that are unused afterwards', () => {
    const before = definition({ props: [secret('a', 'sec_a'), secret('b', 'sec_b')] });
    const after = definition({ props: [secret('a', 'sec_a2'), secret('b', 'sec_b')] });
    const past: SourceEvent[] = [
      deploymentStarted({ definition: before }),
      { type: 'SourceDeployed', data: { deployedAt: 2_000 } },
      updateStarted(face({ definition: after })),
    ];
    given(sourceDecider, past)
      .when({ type: 'FinishUpdate', now: 4_000 })
      .thenState((state) => {
        expect(deployedSource(state)?.unusedSecrets).toEqual(['sec_a']);
      });
    given(sourceDecider, past)
      .when({ type: 'FailUpdate', ...failure, now: 4_000 })
      .thenState((state) => {
        expect(deployedSource(state)?.unusedSecrets).toEqual(['sec_a2']);
      });
  });
});

describe('deletion of a source', () => {
  it('starts, and its end is final', () => {
    given(sourceDecider, deployed)
      .when({ type: 'StartDeletion', now: 3_000 })
      .then({ type: 'SourceDeletionStarted', data: { startedAt: 3_000 } });
    given(sourceDecider, deleting)
      .when({ type: 'FinishDeletion', now: 4_000 })
      .then({ type: 'SourceDeleted', data: { deletedAt: 4_000 } });
  });

  it('leaves the source as it was when it failed', () => {
    given(sourceDecider, deleting)
      .when({ type: 'FailDeletion', ...failure, now: 4_000 })
      .thenState((state) => {
        expect(deployedSource(state)).toMatchObject({ active: true, updatedAt: 2_000 });
      });
  });
});

describe('refuses', () => {
  const starts: [string, SourceCommand][] = [
    ['an update', update(renamed)],
    ['a deletion', { type: 'StartDeletion', now: 3_000 }],
  ];
  it.each(
    starts.flatMap(([name, command]) =>
      (['deploying', 'updating', 'deleting'] as const).map((past) => [name, past, command] as const),
    ),
  )('%s while the source is %s', (_, past, command) => {
    const error = given(sourceDecider, HISTORIES[past]).when(command).thenThrows('source.busy');
    expect(error.details).toMatchObject({ id: 'dc_1', operation: past });
  });

  it.each(
    starts.flatMap(([name, command]) =>
      (['none', 'failedDeployment', 'deleted'] as const).map((past) => [name, past, command] as const),
    ),
  )('%s of a source that does not exist (%s)', (_, past, command) => {
    given(sourceDecider, HISTORIES[past]).when(command).thenThrows('source.not_found');
  });

  it.each<[SourceCommand['type'], History]>([
    ['FinishDeployment', 'failedDeployment'],
    ['FinishDeployment', 'deployed'],
    ['FinishUpdate', 'deployed'],
    ['FinishDeletion', 'deployed'],
    ['FinishDeletion', 'deleted'],
  ])('%s after another process ended the operation (%s)', (type, past) => {
    const command = { type, now: 9_000 } as SourceCommand;
    given(sourceDecider, HISTORIES[past])
      .when(command)
      .thenThrows('source.busy', /ended by another process/);
  });

  it('a second deployment under one id', () => {
    given(sourceDecider, deployed).when(startDeployment).thenThrows('source.busy');
  });

  it.each<[SourceCommand['type'], History]>([
    ['FailDeployment', 'none'],
    ['FailDeployment', 'deployed'],
    ['FailDeployment', 'failedDeployment'],
    ['FailUpdate', 'deployed'],
    ['FailUpdate', 'deleted'],
    ['FailDeletion', 'deployed'],
    ['FailDeletion', 'deleted'],
  ])('nothing, for %s when no such operation runs (%s)', (type, past) => {
    const command = { type, ...failure, now: 9_000 } as SourceCommand;
    given(sourceDecider, HISTORIES[past]).when(command).thenNothingHappened();
  });
});

describe('a caller that sends the updated_at it has read', () => {
  const source: SourceRecord = {
    ...face(),
    sourceId: 'dc_1',
    userId: 'u_1',
    createdAt: 2_000,
    updatedAt: 5_999,
    unusedSecrets: [],
  };
  it('gets an error when it is stale', () => {
    checkNotStale(source, undefined);
    checkNotStale(source, 5);
    expect(() => checkNotStale(source, 4)).toThrow(/was updated at 5, if_updated_at is 4/);
  });

  it('finds an idle source only', () => {
    expect(idleSource({ status: 'deployed', source }, 'dc_1')).toBe(source);
    expect(() => idleSource({ status: 'gone', source }, 'dc_1')).toThrow(/no source dc_1/);
  });
});
