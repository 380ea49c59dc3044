import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { type Decider } from '#libs/kernel/decider.js';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { makeUpcasters } from '#libs/composition/upcasters.js';
import { nameSlugDecider } from './domain/name-slug.js';
import { sourceDecider } from './domain/source.js';
import { type NameSlugEvent, type SourceEvent } from './published.js';

const upcasters = makeUpcasters();

/** An event as a shipped version wrote it (test/fixtures/events), upcast to the current version. */
const golden = async <E extends SourceEvent | NameSlugEvent>(type: E['type'], version: number): Promise<E> => {
  const file = new URL(`../../test/fixtures/events/${type}.v${version}.json`, import.meta.url);
  const { data, schemaVersion } = JSON.parse(await readFile(file, 'utf8')) as { data: object; schemaVersion: number };
  expect(schemaVersion).toBe(version);
  const lifted = upcasters.upcast(recorded('source-dc_1', { type, data }, { metadata: { schemaVersion } }));
  return { type: lifted.type, data: lifted.data } as E;
};

type Histories<E extends SourceEvent | NameSlugEvent> = Record<E['type'], readonly E['type'][]>;

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
  it.each(Object.keys(SOURCE) as SourceEvent['type'][])('%s still folds', async (type) => {
    const state = await folds(sourceDecider, SOURCE[type], type);
    expect(state).toMatchObject({ source: { sourceId: 'dc_0mf3k2a9b7c6d5e4f3', definition: { dbProps: ['db'] } } });
  });

  it.each(Object.keys(NAME_SLUG) as NameSlugEvent['type'][])('%s still folds', async (type) => {
    await folds(nameSlugDecider, NAME_SLUG[type], type);
  });
});
