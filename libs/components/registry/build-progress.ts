import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Progress of the files of one source of the registry. */
export interface SourceProgress {
  /** Files that look like components. */
  readonly files: number;
  /** Files that are built, or failed. */
  readonly done: number;
  readonly failed: number;
}

/** Progress of a server with the registry's folder. Times are epoch milliseconds. */
export interface BuildStatus {
  /** Time of the look at the folder. Files that were copied later are not included. */
  readonly startedAt: number;
  /** Time of the last report, which a running server writes every second while it builds. */
  readonly updatedAt: number;
  /** Null while it builds. */
  readonly endedAt: number | null;
  /** By the first folder of the path; the empty name stands for files in the folder itself. */
  readonly sources: Readonly<Record<string, SourceProgress>>;
  readonly building: readonly string[];
  /** The first 1,000 files that could not be built. */
  readonly failed: readonly { readonly path: string; readonly reason: string }[];
}

const MOST_FAILED = 1_000;
const MOST_REASON_CHARS = 500;
/** The name begins with a dot, so it is not a file of the registry. */
const FILE = '.build.json';

/** Counts the built and failed files of the registry. */
export class BuildProgress {
  private readonly startedAt: number;
  private readonly sources = new Map<string, SourceProgress>();
  private readonly building = new Set<string>();
  private readonly failed: { readonly path: string; readonly reason: string }[] = [];

  constructor(private readonly now: () => number) {
    this.startedAt = now();
  }

  begin(files: readonly string[]): void {
    for (const file of files) this.count(file, { files: 1 });
  }

  started(file: string): void {
    this.building.add(file);
  }

  /** @param reason why it could not be built; absent when it was. */
  ended(file: string, reason?: string): void {
    this.building.delete(file);
    this.count(file, { done: 1, failed: reason === undefined ? 0 : 1 });
    if (reason !== undefined && this.failed.length < MOST_FAILED)
      this.failed.push({ path: file, reason: reason.slice(0, MOST_REASON_CHARS) });
  }

  counts(): SourceProgress {
    const sum = { files: 0, done: 0, failed: 0 };
    for (const { files, done, failed } of this.sources.values())
      [sum.files, sum.done, sum.failed] = [sum.files + files, sum.done + done, sum.failed + failed];
    return sum;
  }

  status(hasEnded: boolean): BuildStatus {
    const now = this.now();
    return {
      startedAt: this.startedAt,
      updatedAt: now,
      endedAt: hasEnded ? now : null,
      sources: Object.fromEntries(this.sources),
      building: [...this.building],
      failed: this.failed,
    };
  }

  private count(file: string, more: Partial<SourceProgress>): void {
    const name = sourceOfFile(file);
    const { files, done, failed } = this.sources.get(name) ?? { files: 0, done: 0, failed: 0 };
    const { files: moreFiles = 0, done: moreDone = 0, failed: moreFailed = 0 } = more;
    this.sources.set(name, { files: files + moreFiles, done: done + moreDone, failed: failed + moreFailed });
  }
}

/** Name of the source that a file of the registry came with. */
export const sourceOfFile = (file: string): string => (file.includes('/') ? (file.split('/', 1)[0] ?? '') : '');

/** Writes the status beside the files, for `sluice registry list`. Readers see either the former or the new status. */
export const writeBuildStatus = async (dir: string, status: BuildStatus): Promise<void> => {
  const file = path.join(dir, FILE);
  await writeFile(`${file}.new`, JSON.stringify(status));
  await rename(`${file}.new`, file);
};

/** Undefined when no server has read the folder, or none may write there. */
export const readBuildStatus = async (dir: string): Promise<BuildStatus | undefined> => {
  const text = await readFile(path.join(dir, FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : (JSON.parse(text) as BuildStatus);
};
