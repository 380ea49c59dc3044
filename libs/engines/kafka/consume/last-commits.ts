import { pause } from '#libs/async/pause.js';
import { type Commit } from './offsets.js';

const GATHER_MS = 5;

/** Gathers the last commits of lanes that are released together, so that thousands of lanes cost a few requests. */
export class LastCommits {
  private gathered: Commit[] = [];
  private next: Promise<void> | undefined;

  /** `write` resolves, written or not, when the lanes may have another owner. */
  constructor(private readonly write: (commits: readonly Commit[]) => Promise<unknown>) {}

  /** Resolves when these commits were written or abandoned. */
  add(commits: readonly Commit[]): Promise<void> {
    for (const commit of commits) this.gathered.push(commit);
    this.next ??= this.flush();
    return this.next;
  }

  private async flush(): Promise<void> {
    await pause(GATHER_MS);
    const commits = this.gathered;
    this.gathered = [];
    this.next = undefined;
    await this.write(commits);
  }
}
