import { SerialQueue } from '#libs/async/serial-queue.js';

/** Emails that the steps of one workflow may send in 24 hours. */
export const EMAILS_A_DAY = 100;
const DAY_MS = 86_400_000;

/** Durable records with an end, shared by all processes. */
export interface EmailNotes {
  get(store: string, key: string, now: number): Promise<{ readonly value: string } | undefined>;
  /** Resolves when durable. */
  set(
    note: {
      readonly storeId: string;
      readonly workspaceId: string;
      readonly key: string;
      readonly value: string;
      readonly expiresAt: number;
    },
    now: number,
  ): Promise<void>;
  delete(store: string, key: string, now: number): Promise<boolean>;
  /** Number of records that have not ended. */
  size(store: string, now: number): Promise<number>;
}

const ASKED = '"asked"';
const COUNTED = '"counted"';

/**
 * Counts the emails of workflows by their ids, so a repeat counts once. An email asks by a note, and is counted if the
 * workflow then has no more notes than the limit. Each of two processes that ask at once sees the note of the other, so
 * together they never send one too many. A crash between the two writes leaves a note that its repeat asks with again.
 */
export class EmailBudget {
  /** Emails of this process ask one after the other, or those that ask at once for the last places would all be refused. */
  private readonly asking = new SerialQueue();

  constructor(private readonly notes: EmailNotes) {}

  /** Resolves with whether the email may be sent. */
  allows(workflowId: string, id: string, now: number): Promise<boolean> {
    return this.asking.run(() => this.ask(`sends:${workflowId}`, id, now));
  }

  private async ask(store: string, key: string, now: number): Promise<boolean> {
    const note = await this.notes.get(store, key, now);
    if (note?.value === COUNTED) return true;
    // A workflow beyond its limit costs no write.
    if (!note && (await this.notes.size(store, now)) >= EMAILS_A_DAY) return false;
    const asked = { storeId: store, workspaceId: store, key, value: ASKED, expiresAt: now + DAY_MS };
    await this.notes.set(asked, now);
    if ((await this.notes.size(store, now)) > EMAILS_A_DAY) {
      await this.notes.delete(store, key, now);
      return false;
    }
    await this.notes.set({ ...asked, value: COUNTED }, now);
    return true;
  }
}
