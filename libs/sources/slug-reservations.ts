import { type NameSlugReleased, type NameSlugReserved } from './published.js';

export interface SlugReservation {
  readonly workspaceId: string;
  readonly slug: string;
  readonly sourceId: string;
  readonly secretRefs: readonly string[];
  readonly reservedAt: number;
}

/** Held slugs with the source that holds each. */
export class SlugReservations {
  private readonly held = new Map<string, SlugReservation>();
  private readonly countBySource = new Map<string, number>();

  add(workspaceId: string, data: NameSlugReserved['data']): void {
    this.held.set(`${workspaceId}/${data.slug}`, { workspaceId, ...data });
    this.countBySource.set(data.sourceId, (this.countBySource.get(data.sourceId) ?? 0) + 1);
  }

  remove(workspaceId: string, { slug, sourceId }: NameSlugReleased['data']): void {
    if (!this.held.delete(`${workspaceId}/${slug}`)) return;
    const left = (this.countBySource.get(sourceId) ?? 1) - 1;
    if (left === 0) this.countBySource.delete(sourceId);
    else this.countBySource.set(sourceId, left);
  }

  /** Id of the source that holds a slug, also while an operation that may fail has reserved it. */
  holderOf(workspaceId: string, slug: string): string | undefined {
    return this.held.get(`${workspaceId}/${slug}`)?.sourceId;
  }

  isHeldBy(sourceId: string): boolean {
    return this.countBySource.has(sourceId);
  }

  all(): readonly SlugReservation[] {
    return [...this.held.values()];
  }
}
