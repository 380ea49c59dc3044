import { createHash, randomUUID } from 'node:crypto';
import { chmod, copyFile, link, mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type LockedPackage } from '#libs/component-model/package-lock.js';
import { BOOT, ContentStore, lastUse, remove, renameOver, type Content } from './content-store.js';

const LIST = 'packages.json';

export interface TreeList {
  /** Keys of the packages in the content store. */
  readonly contents: readonly string[];
  /** Unpacked size of all of them. */
  readonly bytes: number;
}

/** Time for which a folder counts as used after its last sign of use. Holders give a sign more often. */
export const USED_MS = 3 * 60_000;

/**
 * Folders with `node_modules`, one for each set of packages, made of hard links. The name contains the boot, because a
 * folder from before a power cut may be torn and is then made again.
 */
export class Trees {
  constructor(private readonly root: string) {}

  static keyOf(packages: readonly LockedPackage[]): string {
    const sorted = packages.map((one) => `${one.place}\n${ContentStore.keyOf(one)}`).sort();
    return `${createHash('sha256').update(sorted.join('\n')).digest('hex')}-${BOOT}`;
  }

  folderOf(key: string): string {
    return path.join(this.root, key, 'tree');
  }

  /** Marks a tree as used now. Returns false when there is none. */
  async touch(key: string): Promise<boolean> {
    const now = new Date();
    return utimes(path.join(this.root, key, `whole-${BOOT}`), now, now).then(
      () => true,
      () => false,
    );
  }

  /** Makes a tree. Two processes may do so at once. */
  async make(key: string, packages: readonly (readonly [LockedPackage, Content])[]): Promise<void> {
    const draft = path.join(this.root, `new-${randomUUID()}`);
    try {
      const tree = path.join(draft, 'tree');
      await makeFolders(draft, ['tree', 'tree/node_modules']);
      for (const [{ place }, content] of packages) await this.place(tree, place, content);
      const about: TreeList = {
        contents: packages.map(([one]) => ContentStore.keyOf(one)),
        bytes: packages.reduce((sum, [, { bytes }]) => sum + bytes, 0),
      };
      await writeFile(path.join(draft, LIST), JSON.stringify(about));
      await writeFile(path.join(draft, `whole-${BOOT}`), '');
      await renameOver(
        draft,
        this.root,
        key,
        async () => (await this.touch(key)) && (await this.about(key)) !== undefined,
      );
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }

  async list(): Promise<
    readonly { readonly key: string; readonly contents: readonly string[]; readonly usedAt: number }[]
  > {
    const keys = (await readdir(this.root)).filter((name) => /^[0-9a-f]{64}-/.test(name));
    return Promise.all(
      keys.map(async (key) => {
        const folder = path.join(this.root, key);
        return { key, contents: (await this.about(key))?.contents ?? [], usedAt: await lastUse(folder) };
      }),
    );
  }

  /** Content of a tree, or undefined when there is none or its list is torn. */
  async about(key: string): Promise<TreeList | undefined> {
    try {
      return JSON.parse(await readFile(path.join(this.root, key, LIST), 'utf8')) as TreeList;
    } catch {
      return undefined;
    }
  }

  remove(key: string): Promise<void> {
    return remove(this.root, key);
  }

  private async place(tree: string, place: string, { folder, files }: Content): Promise<void> {
    const target = path.join(tree, place);
    const folders = new Set<string>();
    const parts = place.split('/');
    parts.forEach((_, index) => folders.add(parts.slice(0, index + 1).join('/')));
    for (const [name] of files)
      for (let at = path.posix.dirname(name); at !== '.'; at = path.posix.dirname(at)) folders.add(`${place}/${at}`);
    await makeFolders(tree, [...folders].sort());
    for (const [name] of files) await linkOrCopy(path.join(folder, name), path.join(target, name));
  }
}

const makeFolders = async (root: string, folders: readonly string[]): Promise<void> => {
  await mkdir(root, { recursive: true });
  await chmod(root, 0o755);
  for (const folder of folders) {
    const made = path.join(root, folder);
    await mkdir(made, { recursive: true });
    await chmod(made, 0o755);
  }
};

/** Copies where the file system has no hard links, or no more for this file. */
const linkOrCopy = async (from: string, to: string): Promise<void> => {
  try {
    await link(from, to);
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
    if (code !== 'EMLINK' && code !== 'EPERM' && code !== 'EXDEV' && code !== 'ENOTSUP') throw error;
    await copyFile(from, to);
  }
};
