import { describe, expect, it } from '@jest/globals';
import { type Decider } from '#libs/kernel/decider.js';
import { GoldenEvents, type GoldenName } from '#libs/kernel/testing/golden-events.js';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { sourcesContext } from './context.js';
import { nameSlugDecider } from './domain/name-slug.js';
import { sourceDecider } from './domain/source.js';
import { type NameSlugEvent, type SourceDeploymentStarted, type SourceEvent } from './published.js';
import { SourcesView } from './sources-view.js';

const golden = new GoldenEvents(sourcesContext);

type Histories<E extends SourceEvent | NameSlugEvent> = Record<E['type'], readonly E['type'][]>;

/** Optional fields of a definition. */
const OPTIONAL = ['packages', 'dynamicProps'] as const;

/** Events that come before each event, complete by type. */
const SOURCE: Histories<SourceEvent> = {
  SourceDeploymentStarted: [],
  SourceDeployed: ['SourceDeploymentStarted'],
  SourceDeploymentFailed: ['SourceDeploymentStarted'],
  SourceUpdateStarted: ['SourceDeploymentStarted', 'SourceDeployed'],
  SourceUpdated: ['SourceDeploymentStarted', 'SourceDeployed', 'SourceUpdateStarted'],
  SourceUpdateFailed: ['SourceDeploymentStarted', 'SourceDeployed', 'SourceUpdateStarted'],
  SourceDeletionStarted: ['SourceDeploymentStarted', 'SourceDeployed'],
  SourceDeleted: ['SourceDeploymentStarted', 'SourceDeployed', 'SourceDeletionStarted'],
  SourceDeletionFailed: ['SourceDeploymentStarted', 'SourceDeployed', 'SourceDeletionStarted'],
};
const NAME_SLUG: Histories<NameSlugEvent> = {
  NameSlugReserved: [],
  NameSlugReleased: ['NameSlugReserved'],
};

const folds = <C, E extends SourceEvent | NameSlugEvent, S>(
  decider: Decider<C, E, S>,
  before: readonly E['type'][],
  type: E['type'],
): S => {
  const after = golden.after(decider, ...before, type);
  expect(after).not.toEqual(golden.after(decider, ...before));
  return after;
};

describe('every version of an event of sources', () => {
  it.each(Object.keys(SOURCE) as SourceEvent['type'][])('%s folds', (type) => {
    const props = expect.arrayContaining([{ kind: 'db', prop: 'db' }]);
    expect(folds(sourceDecider, SOURCE[type], type)).toMatchObject({
      source: { sourceId: 'dc_0mf3k2a9b7c6d5e4f3', definition: { props } },
    });
  });

  it.each(Object.keys(NAME_SLUG) as NameSlugEvent['type'][])('%s folds', (type) => {
    folds(nameSlugDecider, NAME_SLUG[type], type);
  });

  it('keeps the fields that not every definition has', () => {
    const whole = 'SourceDeploymentStarted.whole';
    const bare = 'SourceDeploymentStarted';
    const definitionOf = (name: typeof whole | typeof bare) =>
      golden.read<SourceDeploymentStarted>(name).data.definition;
    const definition = definitionOf(whole);
    for (const field of OPTIONAL) {
      expect(definition[field]).toBeDefined();
      expect(definitionOf(bare)[field]).toBeUndefined();
    }
    const deployed = { status: 'deployed', source: { definition } };
    expect(golden.after(sourceDecider, whole, 'SourceDeployed')).toMatchObject(deployed);
    expect(
      golden.after(sourceDecider, bare, 'SourceDeployed', 'SourceUpdateStarted.whole', 'SourceUpdated'),
    ).toMatchObject(deployed);
  });

  it('keeps the owner of a source, and the change of the owner that an operation is part of', () => {
    const owned = 'SourceDeploymentStarted.owned';
    const owner = { workflowId: 'p_0mf3k2a9b7c6d5e4f3', trigger: 'orders' };
    const workflowChange = '0199c5a0-7f00-7000-8000-000000000001';
    const after = (...names: GoldenName<SourceEvent>[]) => golden.after(sourceDecider, owned, ...names);
    expect(after()).toMatchObject({ status: 'deploying', source: { owner, active: false }, workflowChange });
    const deployed = after('SourceDeployed');
    expect(deployed).toMatchObject({ status: 'deployed', source: { owner, active: false } });
    expect(after('SourceDeployed', 'SourceUpdateStarted.owned')).toMatchObject({ source: { owner }, workflowChange });
    expect(after('SourceDeployed', 'SourceUpdateStarted.owned', 'SourceUpdateFailed')).toMatchObject(deployed);
    const deleting = { status: 'deleting', workflowChange };
    expect(after('SourceDeployed', 'SourceDeletionStarted.owned')).toMatchObject(deleting);
  });

  it('a source without an apphook takes no event of an app until an update gives it one', () => {
    const view = new SourcesView();
    const happened = (...names: GoldenName<SourceEvent>[]): void =>
      names.forEach((name) => view.apply(recorded('source-dc_1', golden.read<SourceEvent>(name))));
    const taken = (): number => view.appHooks.matching('o_1', 'slack_v2', 'message', 'apn_0mf3k2a9b7c6d5e4f3').length;
    happened('SourceDeploymentStarted', 'SourceDeployed');
    expect(taken()).toBe(0);
    happened('SourceUpdateStarted.whole', 'SourceUpdated');
    expect(taken()).toBe(1);
  });
});
