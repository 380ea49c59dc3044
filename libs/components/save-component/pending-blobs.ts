import { createHash } from 'node:crypto';
import { type BlobStore } from '#libs/kernel/blob-store.js';

/** Blobs of a component that is not stored yet. */
export class PendingBlobs implements Pick<BlobStore, 'put'> {
  private readonly texts = new Set<string>();

  put(text: string): Promise<string> {
    this.texts.add(text);
    return Promise.resolve(createHash('sha256').update(text, 'utf8').digest('hex'));
  }

  /** Resolves when all are durable. */
  async storeIn(blobs: Pick<BlobStore, 'put'>): Promise<void> {
    await Promise.all([...this.texts].map((text) => blobs.put(text)));
  }
}
