import { describe, expect, it } from '@jest/globals';
import { type DomainEvent } from '#libs/kernel/events.js';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { type Endpoint, type SourceDefinition, type Timer } from './published.js';
import { SourcesView, type ArmedTimers } from './sources-view.js';
import { definition, deploymentStarted } from './testing/definitions.js';

const timer = (intervalSeconds: number): Timer => ({
  kind: 'timer',
  prop: 'timer',
  cron: null,
  intervalSeconds,
  timezone: null,
});
const endpoint = (key: string, prop = 'http'): Endpoint => ({ kind: 'http', prop, key, customResponse: false });
const FIRST = definition({ props: [endpoint('eone'), timer(60)] });

const observed = () => {
  const view = new SourcesView();
  const changes: string[] = [];
  const timers: ArmedTimers[] = [];
  view.onChange((id) => changes.push(id));
  view.onTimersChanged((armed) => timers.push(armed));
  const happened = (event: DomainEvent, stream = 'source-dc_1'): void => view.apply(recorded(stream, event));
  return { view, changes, timers, happened };
};
const started: DomainEvent = deploymentStarted({ definition: FIRST });
const deployed: DomainEvent = { type: 'SourceDeployed', data: { deployedAt: 2_000 } };
const updateStarted = (next: SourceDefinition, active = true): DomainEvent => ({
  type: 'SourceUpdateStarted',
  data: { name: 'Hello', nameSlug: 'hello', active, definition: next, startedAt: 3_000 },
});
const updated: DomainEvent = { type: 'SourceUpdated', data: { updatedAt: 5_000 } };
const failure = { reason: 'no', observations: [], failedAt: 4_000 };

describe('SourcesView', () => {
  it('serves the endpoints of a deploying source, and arms its timers only afterwards', () => {
    const { view, timers, changes, happened } = observed();
    happened(started);
    expect(view.find('dc_1')).toMatchObject({
      workspaceId: 'o_1',
      status: 'deploying',
      active: true,
      definition: FIRST,
    });
    expect(view.endpoint('eone')).toEqual({
      sourceId: 'dc_1',
      workspaceId: 'o_1',
      prop: 'http',
      customResponse: false,
    });
    expect(timers).toEqual([]);
    happened(deployed);
    expect(view.find('dc_1')?.status).toBe('active');
    expect(timers).toEqual([{ sourceId: 'dc_1', workspaceId: 'o_1', timers: [timer(60)], since: 2_000, first: true }]);
    expect(changes).toEqual(['dc_1', 'dc_1']);
  });

  it('forgets a source whose deployment failed', () => {
    const { view, timers, happened } = observed();
    happened(started);
    happened({ type: 'SourceDeploymentFailed', data: failure });
    expect([view.find('dc_1'), view.endpoint('eone'), view.all().size, view.states().size, timers]).toEqual([
      undefined,
      undefined,
      0,
      0,
      [],
    ]);
  });

  it('keeps the former definition in force until an update ends, and serves both endpoints meanwhile', () => {
    const { view, timers, happened } = observed();
    const next = definition({ props: [endpoint('eone'), endpoint('etwo', 'more'), timer(90)] });
    for (const event of [started, deployed, updateStarted(next)]) happened(event);
    expect(view.find('dc_1')).toMatchObject({ status: 'updating', definition: FIRST, next: { definition: next } });
    expect([view.endpoint('eone')?.prop, view.endpoint('etwo')?.prop]).toEqual(['http', 'more']);
    expect(view.armed('dc_1')?.timers).toEqual([timer(60)]);
    happened(updated);
    expect(view.find('dc_1')).toMatchObject({
      name: 'Hello',
      workspaceId: 'o_1',
      status: 'active',
      active: true,
      definition: next,
    });
    expect(timers.at(-1)).toEqual({
      sourceId: 'dc_1',
      workspaceId: 'o_1',
      timers: [timer(90)],
      since: 5_000,
      first: false,
    });
  });

  it('knows which events of apps a source takes, by the definition in force, while it is active', () => {
    const { view, happened } = observed();
    const takes = (name: string) =>
      definition({ props: [{ kind: 'apphook', prop: 'hook', appProp: 'chat', app: 'chat', eventNames: [name] }] });
    const taken = (): readonly string[] =>
      ['a', 'b'].filter((name) => view.appHooks.matching('o_1', 'chat', name).length);
    happened(deploymentStarted({ definition: takes('a') }));
    expect(taken()).toEqual([]);
    happened(deployed);
    expect(taken()).toEqual(['a']);
    happened(updateStarted(takes('b')));
    expect(taken()).toEqual(['a']);
    happened(updated);
    expect(taken()).toEqual(['b']);
    happened(updateStarted(takes('a')));
    happened({ type: 'SourceUpdateFailed', data: failure });
    expect(taken()).toEqual(['b']);
    happened(updateStarted(takes('b'), false));
    happened(updated);
    expect(taken()).toEqual([]);
    happened(updateStarted(takes('a')));
    happened(updated);
    happened({ type: 'SourceDeletionStarted', data: { startedAt: 6_000 } });
    expect(taken()).toEqual(['a']);
    happened({ type: 'SourceDeleted', data: { deletedAt: 7_000 } });
    expect(taken()).toEqual([]);
  });

  it('goes back to the former definition when an update fails', () => {
    const { view, timers, happened } = observed();
    const next = definition({ props: [endpoint('etwo', 'more')] });
    for (const event of [started, deployed, updateStarted(next)]) happened(event);
    happened({ type: 'SourceUpdateFailed', data: failure });
    expect(view.find('dc_1')).toMatchObject({ status: 'active', definition: FIRST });
    expect([view.endpoint('eone')?.prop, view.endpoint('etwo')]).toEqual(['http', undefined]);
    expect(timers).toHaveLength(1);
  });

  it('does not rearm timers that an update leaves unchanged', () => {
    const { timers, happened } = observed();
    for (const event of [started, deployed, updateStarted({ ...FIRST, bundleHash: 'b2' }), updated]) happened(event);
    expect(timers).toHaveLength(1);
  });

  it('has no endpoint and no timer of an inactive source, but serves while it is activated', () => {
    const { view, timers, happened } = observed();
    for (const event of [started, deployed, updateStarted(FIRST, false)]) happened(event);
    expect(view.endpoint('eone')).toBeDefined();
    happened(updated);
    expect(view.find('dc_1')).toMatchObject({ status: 'inactive', active: false });
    expect([view.endpoint('eone'), timers.at(-1)?.timers]).toEqual([undefined, []]);
    happened(updateStarted(FIRST, true));
    expect(view.endpoint('eone')).toBeDefined();
    expect(view.armed('dc_1')?.timers).toEqual([]);
    happened({ type: 'SourceUpdated', data: { updatedAt: 6_000 } });
    expect(timers.at(-1)).toMatchObject({ timers: [timer(60)], since: 6_000, first: false });
  });

  it('serves until a deletion has ended', () => {
    const { view, timers, changes, happened } = observed();
    for (const event of [started, deployed]) happened(event);
    happened({ type: 'SourceDeletionStarted', data: { startedAt: 3_000 } });
    expect([view.find('dc_1')?.status, view.endpoint('eone')?.prop]).toEqual(['deleting', 'http']);
    happened({ type: 'SourceDeleted', data: { deletedAt: 4_000 } });
    expect([view.find('dc_1'), view.endpoint('eone'), timers.at(-1)?.timers]).toEqual([undefined, undefined, []]);
    expect(changes).toHaveLength(4);
  });

  it('remembers a source that is gone while it holds a slug', () => {
    const { view, happened } = observed();
    const slug = 'nameslug-o_1/hello';
    const held = { slug: 'hello', sourceId: 'dc_1' };
    happened({ type: 'NameSlugReserved', data: { ...held, secretRefs: [], reservedAt: 1 } }, slug);
    for (const event of [started, deployed]) happened(event);
    happened({ type: 'SourceDeletionStarted', data: { startedAt: 3_000 } });
    happened({ type: 'SourceDeleted', data: { deletedAt: 4_000 } });
    expect(view.states().get('dc_1')?.state.status).toBe('gone');
    expect([view.find('dc_1'), view.armed('dc_1'), view.all().size]).toEqual([undefined, undefined, 0]);
    happened({ type: 'NameSlugReleased', data: { ...held, releasedAt: 5 } }, slug);
    expect(view.states().size).toBe(0);
  });

  it('stops calling unsubscribed listeners, and ignores events of other streams', () => {
    const view = new SourcesView();
    const changes: string[] = [];
    const stop = view.onChange((id) => changes.push(id));
    view.apply(recorded('webhook-wh_1', { type: 'WebhookDeleted', data: { deletedAt: 1 } }));
    stop();
    view.apply(recorded('source-dc_1', started));
    expect(changes).toEqual([]);
  });
});
