import { createHash } from 'node:crypto';
import { type BlobStore } from '#libs/kernel/blob-store.js';

export interface MemoryBlobs extends Pick<BlobStore, 'put' | 'get'> {
  readonly texts: Map<string, string>;
}

/** Blobs of a test. */
export const memoryBlobs = (): MemoryBlobs => {
  const texts = new Map<string, string>();
  return {
    texts,
    put: async (text) => {
      const hash = createHash('sha256').update(text).digest('hex');
      texts.set(hash, text);
      return Promise.resolve(hash);
    },
    get: async (hash) => Promise.resolve(texts.get(hash)),
  };
};
