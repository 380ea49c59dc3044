import { type NameSlugEvent } from '../published.js';

/** Holders of the slugs of a family. */
export class SlugTable {
  private readonly holders = new Map<string, string>();
  private readonly bySource = new Map<string, Set<string>>();
  /** By slug, a number below which all of `slug`, `slug-1`, `slug-2`, … are held. */
  private readonly heldBelow = new Map<string, number>();

  apply({ type, data: { slug, sourceId } }: NameSlugEvent): void {
    this.drop(slug);
    if (type === 'NameSlugReleased') return;
    this.holders.set(slug, sourceId);
    const own = this.bySource.get(sourceId);
    if (own) own.add(slug);
    else this.bySource.set(sourceId, new Set([slug]));
  }

  holderOf(slug: string): string | undefined {
    return this.holders.get(slug);
  }

  /** The first of `slug`, `slug-1`, `slug-2`, … that is free, or already this source's. */
  firstFor(slug: string, sourceId: string): string {
    let free = this.heldBelow.get(slug) ?? 0;
    while (this.holders.has(numbered(slug, free))) free++;
    this.heldBelow.set(slug, free);
    const own = [...(this.bySource.get(sourceId) ?? [])].flatMap((held) => numberIn(slug, held) ?? []);
    return numbered(slug, Math.min(free, ...own));
  }

  private drop(slug: string): void {
    const holder = this.holders.get(slug);
    if (holder === undefined) return;
    this.holders.delete(slug);
    const own = this.bySource.get(holder);
    own?.delete(slug);
    if (own?.size === 0) this.bySource.delete(holder);
    this.heldBelow.delete(slug);
    const [, base, number] = /^(.+)-([1-9]\d*)$/.exec(slug) ?? [];
    if (base === undefined) return;
    const below = this.heldBelow.get(base);
    if (below !== undefined && Number(number) < below) this.heldBelow.set(base, Number(number));
  }
}

const numbered = (slug: string, n: number): string => (n === 0 ? slug : `${slug}-${n}`);

/** The n of `slug-n`, 0 for the slug itself; undefined for another slug. */
const numberIn = (slug: string, candidate: string): number | undefined => {
  if (candidate === slug) return 0;
  if (!candidate.startsWith(`${slug}-`)) return undefined;
  const rest = candidate.slice(slug.length + 1);
  return /^[1-9]\d*$/.test(rest) ? Number(rest) : undefined;
};
