/** Stores large, immutable texts (component code, bundles) by the SHA-256 hex of their UTF-8 bytes. */
export interface BlobStore {
  /** Resolves with the hash when durable. Idempotent. Rejects with BlobTooLarge. */
  put(text: string): Promise<string>;
  /**
   * Lets `get` and `fileOf` find texts that may never be put. Resolves when they can be read. They end with `release`, or
   * after a crash at the next start or staging a day later, unless another caller stages the same text. A blob that is
   * put stays. Rejects with BlobTooLarge.
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

/** The engine cannot store a text of this size. */
export class BlobTooLarge extends Error {
  constructor(
    readonly bytes: number,
    readonly limit: number,
  ) {
    super(`a blob of ${bytes} bytes cannot be stored: the limit is ${limit}`);
    this.name = 'BlobTooLarge';
  }
}
