import { accountIdOf, propsOf, type SourceDefinition } from './published.js';

/** A source that accepts an event of an app. */
export interface HookedSource {
  readonly sourceId: string;
  /** The first of its apphooks that accepts the event. */
  readonly prop: string;
}

interface Hook {
  readonly prop: string;
  readonly accountId: string | undefined;
}

/** Apphooks of one source, in declaration order. */
type Hooks = Hook[];

/** Finds the sources that accept an event of an app, without reading the others. */
export class AppHookIndex {
  private readonly byEvent = new Map<string, Map<string, Hooks>>();
  /** Keys of `byEvent` by source. */
  private readonly keys = new Map<string, readonly string[]>();

  /** Replaces the apphooks of the source. Undefined for a source without any. */
  set(sourceId: string, workspaceId: string, definition: SourceDefinition | undefined): void {
    this.remove(sourceId);
    if (definition === undefined) return;
    const apps = new Map(propsOf(definition, 'app').map(({ prop, value }) => [prop, accountIdOf(value)]));
    const keys = new Set<string>();
    for (const { prop, appProp, app, eventNames } of propsOf(definition, 'apphook')) {
      const accountId = apps.get(appProp);
      for (const name of eventNames ?? [null]) {
        const key = keyOf(workspaceId, app, name);
        keys.add(key);
        this.hooksOf(key, sourceId).push({ prop, accountId });
      }
    }
    if (keys.size > 0) this.keys.set(sourceId, [...keys]);
  }

  /** Each source once. An account is compared with the one that the source has for the app. */
  matching(workspaceId: string, app: string, eventName: string, accountId?: string): readonly HookedSource[] {
    const found = new Map<string, HookedSource>();
    for (const key of [keyOf(workspaceId, app, eventName), keyOf(workspaceId, app, null)]) {
      for (const [sourceId, hooks] of this.byEvent.get(key) ?? []) {
        if (found.has(sourceId)) continue;
        const hook = hooks.find((each) => accountId === undefined || each.accountId === accountId);
        if (hook !== undefined) found.set(sourceId, { sourceId, prop: hook.prop });
      }
    }
    return [...found.values()];
  }

  private hooksOf(key: string, sourceId: string): Hooks {
    const sources = this.byEvent.get(key) ?? new Map<string, Hooks>();
    this.byEvent.set(key, sources);
    const hooks = sources.get(sourceId) ?? [];
    sources.set(sourceId, hooks);
    return hooks;
  }

  private remove(sourceId: string): void {
    for (const key of this.keys.get(sourceId) ?? []) {
      const sources = this.byEvent.get(key);
      sources?.delete(sourceId);
      if (sources?.size === 0) this.byEvent.delete(key);
    }
    this.keys.delete(sourceId);
  }
}

/** Null stands for every event. JSON, because any character may be part of a slug or a name. */
const keyOf = (workspaceId: string, app: string, eventName: string | null): string =>
  JSON.stringify([workspaceId, app, eventName]);
