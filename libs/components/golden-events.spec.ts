import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { makeUpcasters } from '#libs/composition/upcasters.js';
import { componentDecider, type ComponentState } from './domain/component.js';
import { type ComponentEvent } from './published.js';

const upcasters = makeUpcasters();

/** An event as a shipped version wrote it (test/fixtures/events), upcast to the current version. */
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
  it.each(Object.keys(BEFORE) as ComponentEvent['type'][])('%s still folds', async (type) => {
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

  it('keeps the fields that a component has had since later', async () => {
    const saved = await golden('ComponentSaved', 1, '.optional');
    const { hasAdditionalProps, packages, warnings } = saved.data as Extract<
      ComponentEvent,
      { type: 'ComponentSaved' }
    >['data'];
    expect([hasAdditionalProps, packages, warnings]).not.toContain(undefined);
    const after = componentDecider.evolve(componentDecider.initialState(), saved);
    expect(after).toMatchObject({ status: 'saved', component: { hasAdditionalProps, packages, warnings } });
    const again = componentDecider.evolve(after, await golden('ComponentSavedAgain', 1));
    expect(again).toMatchObject({ component: { hasAdditionalProps, packages, warnings } });
  });
});
