import { createHash } from 'node:crypto';
import { type BlobStore, BlobTooLarge, type StagedBlobs } from '#libs/kernel/blob-store.js';
import { checkLimit } from '../domain/code-size.js';

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

  /** Rejects with component.too_large. */
  stageIn(blobs: Pick<BlobStore, 'stage'>): Promise<StagedBlobs> {
    return blobs.stage([...this.texts.values()]).catch(refused);
  }

  /** Resolves when all are durable. Rejects with component.too_large. */
  async storeIn(blobs: Pick<BlobStore, 'put'>): Promise<void> {
    await Promise.all([...this.texts.values()].map((text) => blobs.put(text))).catch(refused);
  }
}

/** The bundle is the largest text of a component. */
const refused = (error: unknown): never => {
  if (error instanceof BlobTooLarge) checkLimit('bundle of the component', error.bytes, error.limit, 'bytes');
  throw error;
};
