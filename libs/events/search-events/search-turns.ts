import { Semaphore } from '#libs/async/semaphore.js';
import { DomainError } from '#libs/kernel/domain-error.js';

/** See docs/reference/limits.md#event-search. */
export const SEARCHES = { user: 1, workspace: 2, process: 16 } as const;

/** Lets a few searches run at once, and refuses the others. */
export class SearchTurns {
  private readonly users = new Semaphore(SEARCHES.process, () => SEARCHES.user);
  private readonly workspaces = new Semaphore(SEARCHES.process, () => SEARCHES.workspace);

  /** Runs the search. Throws event.too_many_searches. */
  async run<T>(userId: string, workspaceId: string, search: () => Promise<T>): Promise<T> {
    if (!this.users.tryAcquire(userId)) throw tooMany();
    try {
      if (!this.workspaces.tryAcquire(workspaceId)) throw tooMany();
      try {
        return await search();
      } finally {
        this.workspaces.release(workspaceId);
      }
    } finally {
      this.users.release(userId);
    }
  }
}

const tooMany = (): DomainError =>
  new DomainError(
    'event.too_many_searches',
    `${SEARCHES.user} search of a user and ${SEARCHES.workspace} of a workspace run at once, and ${SEARCHES.process} of all in a process: wait until one has ended`,
    { limit: SEARCHES.user, limit_of_workspace: SEARCHES.workspace, limit_in_all: SEARCHES.process },
  );
