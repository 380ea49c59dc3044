import { createHash } from 'node:crypto';
import { type BlobStore, type StagedBlobs } from '#libs/kernel/blob-store.js';

/** Blobs of a component that is not stored yet. */
export class PendingBlobs implements Pick<BlobStore, 'put' | 'get'> {
  private readonly texts = new Map<string, string>();

  put(text: string): Promise<string> {
    const hash = createHash('sha256').update(text, 'utf8').digest('hex');
    this.texts.set(hash, text);
    return Promise.resolve(hash);
  }

  get(hash: string): Promise<string | undefined> {
    return Promise.resolve(this.texts.get(hash));
  }

  stageIn(blobs: Pick<BlobStore, 'stage'>): Promise<StagedBlobs> {
    return blobs.stage([...this.texts.values()]);
  }

  /** Resolves when all are durable. */
  async storeIn(blobs: Pick<BlobStore, 'put'>): Promise<void> {
    await Promise.all([...this.texts.values()].map((text) => blobs.put(text)));
  }
}
