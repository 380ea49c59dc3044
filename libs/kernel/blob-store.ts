/** Large, immutable texts (component code, bundles), by the SHA-256 hex of their UTF-8 bytes. */
export interface BlobStore {
  /** Resolves with the hash when durable. Idempotent. */
  put(text: string): Promise<string>;
  get(hash: string): Promise<string | undefined>;
  /** A local file that holds exactly the blob, for mounting into a jail. Rejects when there is none. */
  fileOf(hash: string): Promise<string>;
  /** Idempotent. */
  delete(hash: string): Promise<void>;
  /** All of them, for moving an installation. */
  hashes(): AsyncIterable<string>;
}
