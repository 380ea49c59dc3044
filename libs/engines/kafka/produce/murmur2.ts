const SEED = 0x9747b28c;
const M = 0x5bd1e995;
const R = 24;

/** The hash with which Kafka's own producers choose the partition of a key. */
export const murmur2 = (data: Buffer): number => {
  const { length } = data;
  let hash = SEED ^ length;
  let at = 0;
  for (; at + 4 <= length; at += 4) {
    let k = Math.imul(data.readInt32LE(at), M);
    k = Math.imul(k ^ (k >>> R), M);
    hash = Math.imul(hash, M) ^ k;
  }
  const left = length - at;
  if (left === 3) hash ^= data.readUInt8(at + 2) << 16;
  if (left >= 2) hash ^= data.readUInt8(at + 1) << 8;
  if (left >= 1) hash = Math.imul(hash ^ data.readUInt8(at), M);
  hash = Math.imul(hash ^ (hash >>> 13), M);
  return hash ^ (hash >>> 15);
};

/** Partition of a key, as in the default partitioner of the Java client. */
export const partitionOf = (key: string, partitions: number): number =>
  partitions === 1 ? 0 : (murmur2(Buffer.from(key)) & 0x7fffffff) % partitions;
