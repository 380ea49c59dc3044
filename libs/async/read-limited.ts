const FIRST_BYTES = 16 * 1024;

/**
 * Reads a body up to a size, into one buffer that grows, because each small chunk would cost a hundred times its size.
 * Undefined for a larger body, whose connection is then closed.
 */
export const readLimited = async (body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer | undefined> => {
  let buffer = Buffer.allocUnsafe(Math.min(FIRST_BYTES, maxBytes));
  let size = 0;
  // Leaving the loop destroys the body and its connection.
  for await (const chunk of body) {
    const next = size + chunk.length;
    if (next > maxBytes) return undefined;
    if (next > buffer.length) {
      const grown = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(next, 2 * buffer.length)));
      buffer.copy(grown, 0, 0, size);
      buffer = grown;
    }
    buffer.set(chunk, size);
    size = next;
  }
  return buffer.subarray(0, size);
};
