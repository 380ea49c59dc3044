import { DomainError } from '#libs/kernel/domain-error.js';
import { type Refusal } from '#libs/stream-log/refusal.js';

/** Decides on an event that comes over the API and not at an endpoint: it is refused at once, and never held. */
export interface Door {
  /** Returns undefined when the source may take one more event. */
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
