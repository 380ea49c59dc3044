import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { type Decider } from '#libs/kernel/decider.js';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { makeUpcasters } from '#libs/composition/contexts.js';
import { nameSlugDecider } from './domain/name-slug.js';
import { sourceDecider, type SourceState } from './domain/source.js';
import {
  type NameSlugEvent,
  type SourceDeploymentStarted,
  type SourceEvent,
  type SourceUpdateStarted,
} from './published.js';
import { SourcesView } from './sources-view.js';

const upcasters = makeUpcasters();

/** A golden event (test/fixtures/events), upcast to the current version. */
const golden = async <E extends SourceEvent | NameSlugEvent>(
  type: E['type'],
  version: number,
  variant = '',
): Promise<E> => {
  const file = new URL(`../../test/fixtures/events/${type}.v${version}${variant}.json`, import.meta.url);
  const { data, schemaVersion } = JSON.parse(await readFile(file, 'utf8')) as { data: object; schemaVersion: number };
  expect(schemaVersion).toBe(version);
  const lifted = upcasters.upcast(recorded('source-dc_1', { type, data }, { metadata: { schemaVersion } }));
  return { type: lifted.type, data: lifted.data } as E;
};

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

const folds = async <C, E extends SourceEvent | NameSlugEvent, S>(
  decider: Decider<C, E, S>,
  before: readonly E['type'][],
  type: E['type'],
): Promise<S> => {
  let after = decider.initialState();
  for (let version = 1; version <= upcasters.currentVersion(type); version++) {
    let state = decider.initialState();
    for (const earlier of before) state = decider.evolve(state, await golden<E>(earlier, 1));
    after = decider.evolve(state, await golden<E>(type, version));
    expect(after).not.toEqual(state);
  }
  return after;
};

describe('every version of an event of sources', () => {
  it.each(Object.keys(SOURCE) as SourceEvent['type'][])('%s folds', async (type) => {
    const state = await folds(sourceDecider, SOURCE[type], type);
    const props = expect.arrayContaining([{ kind: 'db', prop: 'db' }]);
    expect(state).toMatchObject({ source: { sourceId: 'dc_0mf3k2a9b7c6d5e4f3', definition: { props } } });
  });

  it.each(Object.keys(NAME_SLUG) as NameSlugEvent['type'][])('%s folds', async (type) => {
    await folds(nameSlugDecider, NAME_SLUG[type], type);
  });

  it('keeps the fields that not every definition has', async () => {
    const started = await golden<SourceDeploymentStarted>('SourceDeploymentStarted', 1, '.whole');
    const update = await golden<SourceUpdateStarted>('SourceUpdateStarted', 1, '.whole');
    const deployed = await golden<SourceEvent>('SourceDeployed', 1);
    const updated = await golden<SourceEvent>('SourceUpdated', 1);
    const fold = (...events: readonly SourceEvent[]): SourceState =>
      events.reduce((state, event) => sourceDecider.evolve(state, event), sourceDecider.initialState());
    const { definition } = started.data;
    for (const field of OPTIONAL) expect(definition[field]).toBeDefined();
    expect(fold(started, deployed)).toMatchObject({ status: 'deployed', source: { definition } });
    const bare = await golden<SourceDeploymentStarted>('SourceDeploymentStarted', 1);
    for (const field of OPTIONAL) expect(bare.data.definition[field]).toBeUndefined();
    expect(fold(bare, deployed, update, updated)).toMatchObject({ status: 'deployed', source: { definition } });
  });

  it('a source without an apphook takes no event of an app until an update gives it one', async () => {
    const view = new SourcesView();
    const happened = async (type: SourceEvent['type'], variant = ''): Promise<void> =>
      view.apply(recorded('source-dc_1', await golden<SourceEvent>(type, 1, variant)));
    const taken = (): number => view.appHooks.matching('o_1', 'slack_v2', 'message', 'apn_0mf3k2a9b7c6d5e4f3').length;
    await happened('SourceDeploymentStarted');
    await happened('SourceDeployed');
    expect(taken()).toBe(0);
    await happened('SourceUpdateStarted', '.whole');
    await happened('SourceUpdated');
    expect(taken()).toBe(1);
  });
});
