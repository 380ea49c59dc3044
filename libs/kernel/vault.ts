/** Secrets are kept out of the event log: an event holds the reference, deleting the record deletes the secret. */
export interface Vault {
  /** Resolves when durable. `ref` is chosen by the caller (`sec_…`), so that a repeat overwrites itself. */
  put(ref: string, workspaceId: string, plaintext: string): Promise<void>;
  /** undefined when there is none or it belongs to another workspace. Rejects when it cannot be decrypted. */
  get(ref: string, workspaceId: string): Promise<string | undefined>;
  /** Idempotent. */
  delete(ref: string): Promise<void>;
  /** All of them, for moving an installation. */
  entries(): AsyncIterable<{ readonly ref: string; readonly workspaceId: string; readonly plaintext: string }>;
}
