import zlib from 'node:zlib';
import { compressionsAlgorithms, type CompressionAlgorithmSpecification } from '@platformatic/kafka';
import { decompress } from 'fzstd';

/** A batch of Java's clients and brokers in snappy begins with these bytes, two versions, and blocks with their lengths. */
const XERIAL = Buffer.from('\x82SNAPPY\0', 'latin1');
const VERSIONS_BYTES = 8;
const LENGTH_BYTES = 4;

type Decompress = CompressionAlgorithmSpecification['decompressSync'];

/** Blocks as Java frames them, or one block without a frame, as other clients write it. */
const snappyOf =
  (block: Decompress): Decompress =>
  (given) => {
    const data = bytesOf(given);
    if (!data.subarray(0, XERIAL.length).equals(XERIAL)) return block(data);
    const parts: Buffer[] = [];
    for (let at = XERIAL.length + VERSIONS_BYTES; at < data.length;) {
      const from = at + LENGTH_BYTES;
      at = from + data.readInt32BE(at);
      if (at > data.length) throw new Error('a snappy block is longer than its batch');
      parts.push(block(data.subarray(from, at)));
    }
    return Buffer.concat(parts);
  };

const zstd: Decompress = (given) => Buffer.from(decompress(bytesOf(given)));

const bytesOf = (data: Parameters<Decompress>[0]): Buffer => (Buffer.isBuffer(data) ? data : data.buffer);

/**
 * Completes the codecs in the table from which the client library takes them. It does not know Java's frame of snappy,
 * and has no zstd on Node before 22.15.
 */
export const completeCodecs = (): void => {
  const { snappy } = compressionsAlgorithms;
  replace(snappy, snappyOf(snappy.decompressSync));
  if (!('zstdDecompressSync' in zlib)) replace(compressionsAlgorithms.zstd, zstd);
};

const replace = (codec: CompressionAlgorithmSpecification, decompressSync: Decompress): void => {
  codec.decompressSync = decompressSync;
};
