import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  chmod,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import path from 'node:path';
import { type LockedPackage } from '#libs/component-model/package-lock.js';
import { type FileSink } from '#libs/sandbox/index.js';

/** File of a package with its mode and hash, as written when it was unpacked. */
type ListedFile = readonly [path: string, bytes: number, executable: 0 | 1, sha256: string];

export interface Content {
  readonly folder: string;
  readonly files: readonly ListedFile[];
  readonly bytes: number;
}

const LIST = 'files.json';
const FILES = 'files';

/**
 * Identifies the boot of this machine. Files renamed into place before a power cut may be torn, so a file of another
 * boot is compared with its hash before its use. Without such an id, each process compares.
 */
export const BOOT: string = (() => {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim().slice(0, 8);
  } catch {
    return randomUUID().slice(0, 8);
  }
})();

/**
 * Unpacked packages, each once, by the hash of its name, version and integrity. The name is part of it, so that a
 * package which claims the integrity of another one does not get that one's files.
 */
export class ContentStore {
  /** Sizes that were read before. */
  private readonly sizes = new Map<string, number>();

  constructor(private readonly root: string) {}

  static keyOf({ name, version, integrity }: Pick<LockedPackage, 'name' | 'version' | 'integrity'>): string {
    return createHash('sha256').update(`${name}\n${version}\n${integrity}`).digest('hex');
  }

  folderOf(key: string): string {
    return path.join(this.root, key);
  }

  /** Returns a complete package, or undefined. Removes a torn one. */
  async find(key: string): Promise<Content | undefined> {
    const folder = this.folderOf(key);
    const content = await read(folder);
    if (!content) return undefined;
    const marker = path.join(folder, `whole-${BOOT}`);
    const now = new Date();
    const isKnown = await utimes(marker, now, now).then(
      () => true,
      () => false,
    );
    if (isKnown) return content;
    if (!(await isWhole(content))) {
      await remove(this.root, key);
      return undefined;
    }
    await writeFile(marker, '');
    return content;
  }

  /** Returns a package whose files are all unchanged, or undefined. Removes any other. */
  async verified(key: string): Promise<Content | undefined> {
    const content = await read(this.folderOf(key));
    if (content && (await isWhole(content))) return content;
    await this.remove(key);
    return undefined;
  }

  /** Stores a package. `unpack` passes its files to the sink. Two processes may do so at once. */
  async add(key: string, unpack: (sink: FileSink) => Promise<void>): Promise<Content> {
    const draft = path.join(this.root, `new-${randomUUID()}`);
    const files = path.join(draft, FILES);
    await mkdir(files, { recursive: true });
    await Promise.all([chmod(draft, 0o755), chmod(files, 0o755)]);
    const writer = new FileWriter(files);
    try {
      await unpack(writer.sink);
      const listed = await writer.end();
      await writeFile(path.join(draft, LIST), JSON.stringify(listed));
      await writeFile(path.join(draft, `whole-${BOOT}`), '');
      await renameOver(draft, this.root, key, async () => (await this.find(key)) !== undefined);
    } finally {
      await writer.abort();
      await rm(draft, { recursive: true, force: true });
    }
    const content = await this.find(key);
    if (!content) throw new Error(`the package ${key} was stored and is not there`);
    return content;
  }

  /** Unpacked size and last use of each package. */
  async list(): Promise<readonly { readonly key: string; readonly bytes: number; readonly usedAt: number }[]> {
    const keys = (await readdir(this.root)).filter((name) => /^[0-9a-f]{64}$/.test(name));
    return Promise.all(
      keys.map(async (key) => {
        const folder = this.folderOf(key);
        const bytes = this.sizes.get(key) ?? (await read(folder))?.bytes ?? 0;
        this.sizes.set(key, bytes);
        return { key, bytes, usedAt: await lastUse(folder) };
      }),
    );
  }

  remove(key: string): Promise<void> {
    this.sizes.delete(key);
    return remove(this.root, key);
  }
}

/** Latest change of the markers within a folder, or 0. */
export const lastUse = async (folder: string): Promise<number> => {
  const names = await readdir(folder).catch(() => []);
  const times = names
    .filter((name) => name.startsWith('whole-'))
    .map((name) =>
      stat(path.join(folder, name)).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    );
  return Math.max(0, ...(await Promise.all(times)));
};

/** Renames a folder in one step, then removes it. */
export const remove = async (root: string, name: string): Promise<void> => {
  const gone = path.join(root, `old-${randomUUID()}`);
  await rename(path.join(root, name), gone).catch(() => undefined);
  await rm(gone, { recursive: true, force: true });
};

/** Renames a draft into place. A usable folder of another process stays, and an unusable one is replaced. */
export const renameOver = async (
  draft: string,
  root: string,
  name: string,
  isUsable: () => Promise<boolean>,
): Promise<void> => {
  const target = path.join(root, name);
  await rename(draft, target).catch(async () => {
    if (await isUsable()) return;
    await remove(root, name);
    await rename(draft, target).catch(async (error: unknown) => {
      // Another process replaced it at the same time.
      if (!(await isUsable())) throw error;
    });
  });
};

const LEFTOVER_MS = 3_600_000;

/** Removes the leftovers of interrupted processes. */
export const sweep = async (root: string): Promise<void> => {
  for (const name of await readdir(root)) {
    if (!/^(?:new|old)-/.test(name)) continue;
    const folder = path.join(root, name);
    const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Date.now() }));
    if (name.startsWith('old-') || Date.now() - mtimeMs > LEFTOVER_MS)
      await rm(folder, { recursive: true, force: true });
  }
};

const read = async (folder: string): Promise<Content | undefined> => {
  try {
    const parsed = JSON.parse(await readFile(path.join(folder, LIST), 'utf8')) as unknown;
    if (!Array.isArray(parsed)) return undefined;
    const files = parsed as ListedFile[];
    return { folder: path.join(folder, FILES), files, bytes: files.reduce((sum, [, bytes]) => sum + bytes, 0) };
  } catch {
    // Missing, or torn by a power cut.
    return undefined;
  }
};

const isWhole = async ({ folder, files }: Content): Promise<boolean> => {
  for (const [name, , , sha256] of files) {
    const bytes = await readFile(path.join(folder, name)).catch(() => undefined);
    if (!bytes || createHash('sha256').update(bytes).digest('hex') !== sha256) return false;
  }
  return true;
};

/** Writes the files of one package, one after the other. Later files replace earlier ones of the same path. */
class FileWriter {
  private readonly done = new Map<string, ListedFile>();
  private readonly folders = new Set<string>(['.']);
  private current:
    | { path: string; file: FileHandle; hash: ReturnType<typeof createHash>; bytes: number; executable: boolean }
    | undefined;

  constructor(private readonly root: string) {}

  readonly sink: FileSink = async (name, bytes, { executable, starts }) => {
    if (starts || this.current?.path !== name) {
      await this.finish();
      await this.makeFolder(path.posix.dirname(name));
      const mode = executable ? 0o755 : 0o644;
      const file = await open(path.join(this.root, name), 'w', mode);
      await file.chmod(mode);
      this.current = { path: name, file, hash: createHash('sha256'), bytes: 0, executable };
    }
    const { file, hash } = this.current;
    if (bytes.length > 0) await file.writeFile(bytes);
    hash.update(bytes);
    this.current.bytes += bytes.length;
  };

  async end(): Promise<readonly ListedFile[]> {
    await this.finish();
    return [...this.done.values()];
  }

  async abort(): Promise<void> {
    await this.current?.file.close();
    this.current = undefined;
  }

  private async finish(): Promise<void> {
    if (!this.current) return;
    const { path: name, file, hash, bytes, executable } = this.current;
    this.current = undefined;
    await file.close();
    this.done.set(name, [name, bytes, executable ? 1 : 0, hash.digest('hex')]);
  }

  /** Makes each folder with its mode, because the server's umask closes new ones to jailed users. */
  private async makeFolder(folder: string): Promise<void> {
    if (this.folders.has(folder)) return;
    await this.makeFolder(path.posix.dirname(folder));
    const made = path.join(this.root, folder);
    await mkdir(made, { recursive: true });
    await chmod(made, 0o755);
    this.folders.add(folder);
  }
}
