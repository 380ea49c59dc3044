/** Stores large, immutable texts (component code, bundles) by the SHA-256 hex of their UTF-8 bytes. */
export interface BlobStore {
  /** Resolves with the hash when durable. Idempotent. */
  put(text: string): Promise<string>;
  get(hash: string): Promise<string | undefined>;
  /** Returns the path of a local file with exactly the blob, for mounting into a jail. Rejects for an unknown blob. */
  fileOf(hash: string): Promise<string>;
  /** Idempotent. */
  delete(hash: string): Promise<void>;
  /** Lists the hashes of all blobs, for moving an installation. */
  hashes(): AsyncIterable<string>;
}
