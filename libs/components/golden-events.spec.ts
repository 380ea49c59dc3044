import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { projecting } from '#libs/kernel/testing/projection-specification.js';
import { history, recorded } from '#libs/kernel/testing/recorded.js';
import { makeUpcasters } from '#libs/composition/contexts.js';
import { componentDecider, type ComponentState } from './domain/component.js';
import { type ComponentEvent } from './published.js';
import { packageUsesProjection } from './read-models/package-uses.projection.js';

const upcasters = makeUpcasters();

/** A golden event (test/fixtures/events), upcast to the current version. */
const golden = async (type: ComponentEvent['type'], version: number, variant = ''): Promise<ComponentEvent> => {
  const file = new URL(`../../test/fixtures/events/${type}.v${version}${variant}.json`, import.meta.url);
  const { data, schemaVersion } = JSON.parse(await readFile(file, 'utf8')) as { data: object; schemaVersion: number };
  expect(schemaVersion).toBe(version);
  const lifted = upcasters.upcast(recorded('component-sc_1', { type, data }, { metadata: { schemaVersion } }));
  return { type: lifted.type, data: lifted.data } as ComponentEvent;
};

/** Events that come before each event, complete by type. */
const BEFORE: Record<ComponentEvent['type'], readonly ComponentEvent['type'][]> = {
  ComponentSaved: [],
  ComponentSavedAgain: ['ComponentSaved'],
  ComponentPackagesRefreshed: ['ComponentSaved'],
};

describe('every version of an event of components', () => {
  it.each(Object.keys(BEFORE) as ComponentEvent['type'][])('%s folds', async (type) => {
    for (let version = 1; version <= upcasters.currentVersion(type); version++) {
      let state: ComponentState = componentDecider.initialState();
      for (const earlier of BEFORE[type]) state = componentDecider.evolve(state, await golden(earlier, 1));
      const after = componentDecider.evolve(state, await golden(type, version));
      expect(after).not.toEqual(state);
      expect(after).toMatchObject({
        status: 'saved',
        component: { key: 'github-webhook', hooks: ['deploy', 'activate', 'deactivate'] },
      });
    }
  });

  it('keeps the fields that not every component has', async () => {
    const saved = await golden('ComponentSaved', 1, '.beside');
    const { hasAdditionalProps, packages, warnings } = saved.data as Extract<
      ComponentEvent,
      { type: 'ComponentSaved' }
    >['data'];
    expect([hasAdditionalProps, packages?.beside, warnings]).not.toContain(undefined);
    const after = componentDecider.evolve(componentDecider.initialState(), saved);
    expect(after).toMatchObject({ status: 'saved', component: { hasAdditionalProps, packages, warnings } });
    const again = componentDecider.evolve(after, await golden('ComponentSavedAgain', 1));
    expect(again).toMatchObject({ component: { hasAdditionalProps, packages, warnings } });
  });

  it('list the packages that a component uses', async () => {
    const [saved, refreshed] = await Promise.all([
      golden('ComponentSaved', 1, '.packages'),
      golden('ComponentPackagesRefreshed', 1, '.packages'),
    ]);
    const state = [saved, refreshed].reduce<ComponentState>(
      (before, event) => componentDecider.evolve(before, event),
      componentDecider.initialState(),
    );
    const uses = ['axios@1.22.0', 'follow-redirects@1.15.9'];
    expect(state).toMatchObject({ status: 'saved', component: { packages: { uses }, bytes: 2100 } });
    expect(state).not.toHaveProperty('component.dropped');

    const stream = 'component-sc_1';
    const id = 'sc_1:axios@1.21.1';
    const used = { componentId: 'sc_0k3v9x2m1q8w7e6r5t', package: 'axios', packageVersion: 'axios@1.21.1' };
    projecting(packageUsesProjection)
      .given(history([stream, saved]))
      .numberOfTimes(2)
      .thenMatches(id, used);
    projecting(packageUsesProjection)
      .given(history([stream, saved], [stream, refreshed]))
      .then(id, undefined)
      .thenMatches('sc_1:axios@1.22.0', { package: 'axios' });
    expect(packageUsesProjection.keys(recorded(stream, await golden('ComponentSaved', 1)))).toEqual([]);
  });
});
