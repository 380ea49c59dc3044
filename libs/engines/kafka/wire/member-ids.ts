import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

type Ids = Record<string, string[]>;

const FILE = /^members-(\d+)\.json$/;

/**
 * The member ids of this process, kept in a file. After a crash the next process removes its predecessor from the
 * groups, which would otherwise wait for it until the session time-out. The folder is local to the machine.
 */
export class MemberIds {
  private readonly own: Ids = {};
  private readonly left: Ids = {};

  constructor(private readonly dir: string | undefined) {
    if (dir === undefined) return;
    mkdirSync(dir, { recursive: true });
    for (const name of readdirSync(dir)) {
      const pid = Number(FILE.exec(name)?.[1] ?? -1);
      // A container's process has the same pid every time, so a file of this pid is the predecessor's.
      if (pid < 0 || (pid !== process.pid && isAlive(pid))) continue;
      for (const [group, ids] of Object.entries(readIds(join(dir, name)))) (this.left[group] ??= []).push(...ids);
      rmSync(join(dir, name), { force: true });
    }
    this.save();
  }

  /** Returns the predecessor's ids, once. */
  removeLeft(group: string): readonly string[] {
    const ids = this.left[group] ?? [];
    delete this.left[group];
    return ids;
  }

  change(group: string, before: string | undefined, after: string | undefined): void {
    const others = (this.own[group] ?? []).filter((id) => id !== before);
    this.own[group] = after === undefined ? others : [...others, after];
    this.save();
  }

  private save(): void {
    if (this.dir === undefined) return;
    const file = join(this.dir, `members-${process.pid}.json`);
    writeFileSync(`${file}.new`, JSON.stringify({ ...this.left, ...mergedWith(this.own, this.left) }));
    renameSync(`${file}.new`, file);
  }
}

/** Keeps the predecessor's ids on file until `removeLeft`. */
const mergedWith = (own: Ids, left: Ids): Ids =>
  Object.fromEntries(Object.entries(own).map(([group, ids]) => [group, [...ids, ...(left[group] ?? [])]]));

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
};

const readIds = (file: string): Ids => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Ids;
  } catch (error) {
    // A crash left half a file. The groups notice by their session time-out.
    if (error instanceof SyntaxError) return {};
    throw error;
  }
};
