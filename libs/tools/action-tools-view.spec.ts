import { describe, expect, it } from '@jest/globals';
import { type ComponentSaved, REGISTRY_WORKSPACE } from '#libs/components/published.js';
import { savedData } from '#libs/components/testing/saved-data.js';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { ActionToolsView } from './action-tools-view.js';

const saved = (componentId: string, savedAt: number, more: Partial<ComponentSaved['data']> = {}) => ({
  type: 'ComponentSaved',
  data: savedData({ componentId, kind: 'action', version: '1.0.0', savedAt, ...more }),
});
const savedAgain = (savedAt: number) => ({ type: 'ComponentSavedAgain', data: { url: null, savedAt } });
const viewAfter = (...events: readonly (readonly [id: string, event: object, workspaceId?: string])[]) => {
  const view = new ActionToolsView();
  for (const [id, event, workspaceId = 'o_1'] of events)
    view.apply(recorded(`component-${id}`, event as ReturnType<typeof saved>, { metadata: { workspaceId } }));
  return view;
};
const found = (view: ActionToolsView) =>
  [...view.of('o_1')].map(({ key, componentId, createdAt }) => [key, componentId, createdAt]);

describe('the actions of a workspace', () => {
  it('are those with a key, and of no other workspace', () => {
    const view = viewAfter(
      ['sc_1', saved('sc_1', 1)],
      ['sc_2', saved('sc_2', 2, { key: null })],
      ['sc_3', saved('sc_3', 3, { key: 'source', kind: 'source' })],
      ['sc_4', saved('sc_4', 4), 'o_2'],
      ['sc_5', saved('sc_5', 5, { key: 'listed' }), REGISTRY_WORKSPACE],
    );
    expect(found(view)).toEqual([['hello', 'sc_1', 1]]);
    expect([...view.of('o_2')]).toHaveLength(1);
    expect([...view.of(REGISTRY_WORKSPACE)]).toEqual([]);
  });

  it('are the newest version of each key, as old as the first one', () => {
    const first = ['sc_1', saved('sc_1', 1, { version: '1.2.0' })] as const;
    expect(found(viewAfter(first, ['sc_2', saved('sc_2', 2, { version: '1.10.0' })]))).toEqual([['hello', 'sc_2', 1]]);
    expect(found(viewAfter(first, ['sc_2', saved('sc_2', 2, { version: '1.1.0' })]))).toEqual([['hello', 'sc_1', 1]]);
  });

  it('are the last saved of one version, also when its code comes again', () => {
    const both = [
      ['sc_1', saved('sc_1', 1)],
      ['sc_2', saved('sc_2', 2)],
    ] as const;
    expect(found(viewAfter(...both))).toEqual([['hello', 'sc_2', 1]]);
    expect(found(viewAfter(...both, ['sc_1', savedAgain(3)]))).toEqual([['hello', 'sc_1', 1]]);
    const again = viewAfter(...both, ['sc_1', savedAgain(3)], ['sc_2', savedAgain(4)]);
    expect(found(again)).toEqual([['hello', 'sc_2', 1]]);
    expect(found(viewAfter(['sc_1', saved('sc_1', 1, { key: null })], ['sc_1', savedAgain(3)]))).toEqual([]);
  });

  it('are gone with the last version of their key, and the newest of those that are left before', () => {
    const deleted = { type: 'ComponentDeleted', data: { deletedAt: 9 } };
    const both = [
      ['sc_1', saved('sc_1', 1, { version: '1.2.0' })],
      ['sc_2', saved('sc_2', 2, { version: '1.10.0' })],
    ] as const;
    expect(found(viewAfter(...both, ['sc_2', deleted]))).toEqual([['hello', 'sc_1', 1]]);
    expect(found(viewAfter(...both, ['sc_1', deleted]))).toEqual([['hello', 'sc_2', 1]]);
    expect(found(viewAfter(...both, ['sc_1', deleted], ['sc_2', deleted]))).toEqual([]);
    expect(found(viewAfter(...both, ['sc_2', deleted], ['sc_2', saved('sc_2', 10)]))).toEqual([['hello', 'sc_1', 1]]);
    expect(found(viewAfter(['sc_9', deleted]))).toEqual([]);
  });

  it('have the facts of their newest state', () => {
    const configurableProps = [{ name: 'token', type: 'string', secret: true }];
    const refreshed = { type: 'ComponentPackagesRefreshed', data: saved('sc_1', 9, { configurableProps }).data };
    const view = viewAfter(['sc_1', saved('sc_1', 1)], ['sc_1', refreshed]);
    expect([...view.of('o_1')]).toMatchObject([{ needsSecret: true, createdAt: 1, isOfRegistry: false }]);
  });
});
