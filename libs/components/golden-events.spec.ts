import { describe, expect, it } from '@jest/globals';
import { GoldenEvents } from '#libs/kernel/testing/golden-events.js';
import { projecting } from '#libs/kernel/testing/projection-specification.js';
import { history, recorded } from '#libs/kernel/testing/recorded.js';
import { componentsContext } from './context.js';
import { componentDecider } from './domain/component.js';
import { type ComponentEvent, type ComponentSaved } from './published.js';
import { packageUsesProjection } from './read-models/package-uses.projection.js';

const golden = new GoldenEvents(componentsContext);

/** Events that come before each event, complete by type. */
const BEFORE: Record<ComponentEvent['type'], readonly ComponentEvent['type'][]> = {
  ComponentSaved: [],
  ComponentSavedAgain: ['ComponentSaved'],
  ComponentPackagesRefreshed: ['ComponentSaved'],
  ComponentDeleted: ['ComponentSaved'],
};

describe('every version of an event of components', () => {
  it.each(Object.keys(BEFORE) as ComponentEvent['type'][])('%s folds', (type) => {
    const after = golden.after(componentDecider, ...BEFORE[type], type);
    expect(after).not.toEqual(golden.after(componentDecider, ...BEFORE[type]));
    if (type === 'ComponentDeleted') return expect(after).toEqual({ status: 'none' });
    return expect(after).toMatchObject({
      status: 'saved',
      component: { key: 'github-webhook', hooks: ['deploy', 'activate', 'deactivate'] },
    });
  });

  it('keeps the fields that not every component has', () => {
    const { data } = golden.read<ComponentSaved>('ComponentSaved.beside');
    const { hasAdditionalProps, packages, warnings } = data;
    expect([hasAdditionalProps, packages?.beside, warnings]).not.toContain(undefined);
    for (const later of [[], ['ComponentSavedAgain']] as const)
      expect(golden.after(componentDecider, 'ComponentSaved.beside', ...later)).toMatchObject({
        status: 'saved',
        component: { hasAdditionalProps, packages, warnings },
      });
  });

  it('list the packages that a component uses', () => {
    const names = ['ComponentSaved.packages', 'ComponentPackagesRefreshed.packages'] as const;
    const [saved, refreshed] = names.map((name) => golden.read<ComponentEvent>(name)) as [
      ComponentEvent,
      ComponentEvent,
    ];
    const state = golden.after(componentDecider, ...names);
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
    projecting(packageUsesProjection)
      .given(history([stream, saved], [stream, golden.read<ComponentEvent>('ComponentDeleted.packages')]))
      .numberOfTimes(2)
      .then(id, undefined);
    expect(packageUsesProjection.keys(recorded(stream, golden.read<ComponentSaved>('ComponentSaved')))).toEqual([]);
  });
});
