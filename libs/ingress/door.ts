import { DomainError } from '#libs/kernel/domain-error.js';
import { type Refusal } from '#libs/stream-log/refusal.js';

/** Admission for events over the API instead of an endpoint. It refuses at once and never delays. */
export interface Door {
  /** Returns undefined when the source may receive one more event. */
  refusal(sourceId: string, workspaceId: string): Refusal | undefined;
  /** Counts an event that was stored. */
  stored?(sourceId: string): void;
}

/** The refusal as an error of the API. */
export const refusedAtDoor = ({ status, retryAfterS }: Refusal, text: string, id?: string): DomainError =>
  new DomainError(status === 429 ? 'source.unread_limit' : 'source.overloaded', text, {
    ...(id !== undefined && { id }),
    retry_after: retryAfterS,
  });
