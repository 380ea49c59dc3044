import { hash } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Epoch of the KSUID layout: 4 bytes of seconds since then, 16 bytes that make it unique. */
const KSUID_EPOCH_S = 1_400_000_000;

/**
 * Emit ids of one execution: 27 characters, sortable by time, and a function of the execution and the emit's index, so
 * that a run repeated after a crash gives its emits the ids that they had.
 */
export const emitIds = (executionId: string, atMs: number): ((index: number) => string) => {
  const digest = hash('sha256', executionId, 'buffer');
  const seconds = (Math.floor(atMs / 1000) - KSUID_EPOCH_S) >>> 0;
  const words = [
    seconds,
    digest.readUInt32BE(0),
    digest.readUInt32BE(4),
    digest.readUInt32BE(8),
    digest.readUInt32BE(12),
  ];
  return (index) => base62([...words.slice(0, 4), ((words[4] as number) ^ index) >>> 0]);
};

const base62 = (words: number[]): string => {
  let out = '';
  for (let digit = 0; digit < 27; digit++) {
    let remainder = 0;
    for (let i = 0; i < words.length; i++) {
      const value = remainder * 4_294_967_296 + (words[i] as number);
      words[i] = Math.floor(value / 62);
      remainder = value % 62;
    }
    out = (BASE62[remainder] as string) + out;
  }
  return out;
};

/** Hands out event ids `<epoch ms>-<seq>` that strictly increase per emitter, also when the clock goes back. */
export class EventIds {
  private ms: number;
  private seq: number;

  constructor(lastEventId: string) {
    const [ms, seq] = lastEventId.split('-').map(Number);
    this.ms = ms || 0;
    this.seq = seq ?? 0;
  }

  next(now: number): string {
    if (now > this.ms) {
      this.ms = now;
      this.seq = 0;
    } else this.seq++;
    return this.last();
  }

  last(): string {
    return this.ms === 0 ? '' : `${this.ms}-${this.seq}`;
  }
}
