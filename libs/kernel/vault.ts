/** Keeps secrets out of the event log. An event holds only the reference, so deleting the record deletes the secret. */
export interface Vault {
  /** Resolves when durable. The caller chooses `ref` (`sec_…`), so that a repeat overwrites the first attempt. */
  put(ref: string, workspaceId: string, plaintext: string): Promise<void>;
  /** Returns undefined for an unknown secret and one of another workspace. Rejects when it cannot be decrypted. */
  get(ref: string, workspaceId: string): Promise<string | undefined>;
  /** Idempotent. */
  delete(ref: string): Promise<void>;
  /** Lists all secrets, for moving an installation. */
  entries(): AsyncIterable<{ readonly ref: string; readonly workspaceId: string; readonly plaintext: string }>;
}
