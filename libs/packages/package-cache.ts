import { chmod, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type LockedPackage } from '#libs/component-model/package-lock.js';
import { ContentStore, sweep, type Content } from './content-store.js';
import { Trees, USED_MS } from './trees.js';
import { unavailable } from './refusals.js';

const MB = 1024 * 1024;
/** Interval at which held folders are marked as used, so that other processes leave them. */
const SIGN_MS = USED_MS / 3;

/** Provides the files of a package that is not in the cache. */
export type Obtain = (wanted: LockedPackage) => Promise<Content>;

/** Unpacked packages and the folders made of them, on a disk that several processes may share. */
export class PackageCache {
  readonly contents: ContentStore;
  private readonly trees: Trees;
  private readonly held = new Map<string, number>();
  private readonly making = new Map<string, Promise<void>>();
  private opened: Promise<void> | undefined;
  private evicting: Promise<void> = Promise.resolve();
  private readonly signs: NodeJS.Timeout;

  constructor(
    private readonly root: string,
    private readonly maxMb: number,
  ) {
    this.contents = new ContentStore(path.join(root, 'content'));
    this.trees = new Trees(path.join(root, 'trees'));
    this.signs = setInterval(() => {
      for (const key of this.held.keys()) void this.trees.touch(key);
    }, SIGN_MS);
    this.signs.unref();
  }

  open(): Promise<void> {
    this.opened ??= (async () => {
      for (const name of ['content', 'trees']) {
        const folder = path.join(this.root, name);
        await mkdir(folder, { recursive: true });
        await chmod(folder, 0o711);
        await sweep(folder);
      }
    })();
    return this.opened;
  }

  close(): void {
    clearInterval(this.signs);
  }

  /** Acquires the folder of these packages if it exists, until `release`. */
  async find(key: string): Promise<{ readonly folder: string; readonly bytes: number } | undefined> {
    this.hold(key);
    const about = (await this.trees.touch(key)) ? await this.trees.about(key) : undefined;
    if (about) return { folder: this.trees.folderOf(key), bytes: about.bytes };
    this.release(key);
    return undefined;
  }

  /** Makes the folder of these packages. `obtain` provides the missing ones. Calls for one key share the work. */
  async make(key: string, packages: readonly LockedPackage[], obtain: Obtain): Promise<void> {
    const made = this.making.get(key) ?? this.makeOnce(key, packages, obtain).finally(() => this.making.delete(key));
    this.making.set(key, made);
    await made;
  }

  release(key: string): void {
    const left = (this.held.get(key) ?? 1) - 1;
    if (left > 0) this.held.set(key, left);
    else this.held.delete(key);
  }

  /** Removes the least recently used packages while the cache is too large. Throws when all the rest is in use. */
  async makeRoom(): Promise<void> {
    const next = this.evicting.then(() => this.evict());
    this.evicting = next.catch(() => undefined);
    await next;
  }

  private hold(key: string): void {
    this.held.set(key, (this.held.get(key) ?? 0) + 1);
  }

  private async makeOnce(key: string, packages: readonly LockedPackage[], obtain: Obtain): Promise<void> {
    const found = await Promise.all(
      packages.map(async (one) => [one, await this.contents.find(ContentStore.keyOf(one))] as const),
    );
    if (found.some(([, content]) => content === undefined)) await this.makeRoom();
    const all = await settled(found.map(async ([one, content]) => [one, content ?? (await obtain(one))] as const));
    await this.trees.make(key, all).catch(async (error: unknown) => {
      if (!isMissing(error)) throw error;
      // Files of the cache were removed. Incomplete packages are obtained again, once.
      const whole = packages.map(async (one) => {
        const content = await this.contents.verified(ContentStore.keyOf(one));
        return [one, content ?? (await obtain(one))] as const;
      });
      await this.trees.make(key, await settled(whole));
    });
  }

  private async evict(): Promise<void> {
    const contents = [...(await this.contents.list())].sort((a, b) => a.usedAt - b.usedAt);
    let bytes = contents.reduce((sum, content) => sum + content.bytes, 0);
    const limit = this.maxMb * MB;
    if (bytes < limit) return;
    const since = Date.now() - USED_MS;
    const trees = await this.trees.list();
    const isUsed = (tree: { readonly key: string; readonly usedAt: number }): boolean =>
      this.held.has(tree.key) || tree.usedAt > since;
    const used = new Set(trees.filter(isUsed).flatMap((tree) => tree.contents));
    for (const content of contents) {
      if (bytes < limit) return;
      if (used.has(content.key) || content.usedAt > since) continue;
      for (const tree of trees) if (tree.contents.includes(content.key)) await this.trees.remove(tree.key);
      await this.contents.remove(content.key);
      bytes -= content.bytes;
    }
    if (bytes >= limit)
      throw unavailable(
        `no further npm package can be installed: those in use take ${bytes} bytes, the limit is ${limit} bytes (SLUICE_PACKAGES_CACHE_MB). Try again later, or ask the operator to raise the limit`,
        '',
      );
  }
}

const isMissing = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';

/** Awaits all works, also after a failure, so that none of them continues behind the caller's back. */
export const settled = async <T>(works: readonly Promise<T>[]): Promise<readonly T[]> => {
  const results = await Promise.allSettled(works);
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
};
