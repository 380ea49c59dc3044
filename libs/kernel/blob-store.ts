/** Stores large, immutable texts (component code, bundles) by the SHA-256 hex of their UTF-8 bytes. */
export interface BlobStore {
  /** Resolves with the hash when durable. Idempotent. */
  put(text: string): Promise<string>;
  /**
   * Lets `get` and `fileOf` find texts that may never be put. Resolves when they can be read. They end with `release`,
   * or within a day after a crash, unless another caller stages the same text. A blob that is put stays.
   */
  stage(texts: readonly string[]): Promise<StagedBlobs>;
  get(hash: string): Promise<string | undefined>;
  /** Returns the path of a local file with exactly the blob, to be read at once. Rejects for an unknown blob. */
  fileOf(hash: string): Promise<string>;
  /** Removes a blob that was put. Only for a text that nothing else can have put. Idempotent. */
  delete(hash: string): Promise<void>;
  /** Lists the hashes of all blobs that were put, for moving an installation. */
  hashes(): AsyncIterable<string>;
}

export interface StagedBlobs {
  /** Idempotent. */
  release(): Promise<void>;
}
