import { type Holding } from '#libs/kernel/context.js';
import { idOf, type RecordedEvent } from '#libs/kernel/events.js';

/**
 * The resources of workspaces that act or keep data on their own. Subscriptions end with these, and components do
 * nothing without a source.
 */
export class WorkspaceContents {
  private readonly open = new Map<string, { readonly workspaceId: string; readonly what: string }>();
  private readonly from: ReadonlyMap<string, string>;
  private readonly until: ReadonlySet<string>;

  constructor(holdings: readonly Holding[]) {
    this.from = new Map(holdings.map(({ from, what }) => [from, what]));
    this.until = new Set(holdings.map(({ until }) => until));
  }

  apply({ type, stream, metadata: { workspaceId } }: RecordedEvent): void {
    if (this.until.has(type)) this.open.delete(idOf(stream));
    const what = this.from.get(type);
    if (what !== undefined) this.open.set(idOf(stream), { workspaceId, what });
  }

  /** Content of a workspace, such as `2 sources, 1 webhook`; undefined when it is empty. */
  of(workspaceId: string): string | undefined {
    const counts = new Map<string, number>();
    for (const each of this.open.values())
      if (each.workspaceId === workspaceId) counts.set(each.what, (counts.get(each.what) ?? 0) + 1);
    if (counts.size === 0) return undefined;
    return [...counts].map(([what, count]) => `${count} ${what}${count === 1 ? '' : 's'}`).join(', ');
  }
}
