import { type FSWatcher, watch } from 'node:fs';
import path from 'node:path';

/**
 * Tells changes of files, each write of them. Their folders are watched, and not what is below, so that a file is seen
 * also when an editor replaces it, and one that an import misses when it is made.
 */
export class WatchedFiles {
  private readonly watchers = new Map<string, FSWatcher>();
  private files: ReadonlySet<string> = new Set();
  /** Whether any file in the folders counts, because the files that matter are not known. */
  private isAny = false;

  constructor(private readonly changed: () => void) {}

  /** From now on, these. */
  follow(files: readonly string[]): void {
    this.isAny = false;
    this.files = new Set(files);
    const folders = new Set(files.map((file) => path.dirname(file)));
    for (const [folder, watcher] of this.watchers) if (!folders.has(folder)) this.end(folder, watcher);
    for (const folder of folders) if (!this.watchers.has(folder)) this.begin(folder);
  }

  /** From now on, every file in the folders of the former ones. */
  followAny(): void {
    this.isAny = true;
  }

  close(): void {
    for (const [folder, watcher] of this.watchers) this.end(folder, watcher);
  }

  private begin(folder: string): void {
    const watcher = watch(folder, (_, name) => {
      // Some systems do not tell which file it is.
      if (name === null || this.isAny || this.files.has(path.join(folder, name))) this.changed();
    });
    watcher.on('error', () => {
      // The folder is gone. The next read tells so, or follows another one of its name.
      this.end(folder, watcher);
      this.changed();
    });
    this.watchers.set(folder, watcher);
  }

  private end(folder: string, watcher: FSWatcher): void {
    watcher.close();
    this.watchers.delete(folder);
  }
}
