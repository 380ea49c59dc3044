import { AskedProcess, type Outcome } from '../host/asked-process.js';
import { JailLauncher } from '../host/jail-launcher.js';
import { type JailLevel } from '../jail/jail-level.js';
import { HEADER_BYTES } from '#libs/framing/records.js';
import {
  encodeUnpack,
  MAX_ANSWER_BYTES,
  parseUnpacked,
  type UnpackLimits,
  type UnpackReply,
} from './unpack-message.js';

/** Receives the files of a tarball. Parts of one file come one after the other. */
export type FileSink = (
  path: string,
  bytes: Buffer,
  about: { readonly executable: boolean; readonly starts: boolean },
) => Promise<void>;

export type UnpackResult =
  | { readonly kind: 'unpacked' }
  /** A reason that continues the sentence "the package cannot be unpacked:". */
  | { readonly kind: 'refused'; readonly reason: string };

const MEMORY_MB = 128;
const TMP_MB = 1;

/** Unpacks each tarball in a jailed process of its own, without network, so that none can forge another's files. */
export class TarballJail {
  private readonly house: JailLauncher;
  private readonly alive = new Set<AskedProcess>();

  constructor(level: JailLevel) {
    this.house = new JailLauncher(level, { memoryMb: MEMORY_MB, tmpMb: TMP_MB, startTimeoutMs: 10_000 }, 'unpack');
  }

  /**
   * @param file tarball that every user can read.
   * @param packageName name that its package.json must have, if it has one.
   */
  async unpack(
    file: string,
    limits: UnpackLimits,
    timeoutMs: number,
    sink: FileSink,
    packageName?: string,
  ): Promise<UnpackResult> {
    const extras = { reads: [{ from: file, to: '/tarball' }] };
    const child = await AskedProcess.start(this.house, extras, HEADER_BYTES + MAX_ANSWER_BYTES);
    this.alive.add(child);
    try {
      const named = packageName === undefined ? {} : { packageName };
      const order = encodeUnpack({ t: 'open', file: child.plan.reads[0] ?? '', limits, ...named });
      return await this.drain(child, order, limits, Date.now() + timeoutMs, sink);
    } finally {
      child.kill();
      await child.ended;
      this.alive.delete(child);
    }
  }

  /** Ends every process and removes temporary files. Idempotent. */
  async close(): Promise<void> {
    for (const child of this.alive) child.kill();
    await Promise.all([...this.alive].map(({ ended }) => ended));
    await this.house.close();
  }

  private async drain(
    child: AskedProcess,
    open: Buffer,
    limits: UnpackLimits,
    until: number,
    sink: FileSink,
  ): Promise<UnpackResult> {
    const seen = { bytes: 0, parts: 0 };
    let order = open;
    for (;;) {
      const reply = replyOf(await child.ask(order, Math.max(1, until - Date.now()), parseUnpacked));
      if (reply.kind === 'refused') return reply;
      seen.bytes += reply.content.length;
      seen.parts += reply.parts.filter(({ starts }) => starts).length;
      // The process counts as well, but it may be under the control of what it reads.
      if (seen.bytes > limits.bytes || seen.parts > limits.entries)
        return { kind: 'refused', reason: `it unpacks to more than ${limits.bytes} bytes or ${limits.entries} files` };
      let at = 0;
      for (const { path, bytes, executable, starts } of reply.parts)
        await sink(path, reply.content.subarray(at, (at += bytes)), { executable, starts });
      if (reply.last) return { kind: 'unpacked' };
      order = encodeUnpack({ t: 'next' });
    }
  }
}

const replyOf = (outcome: Outcome<UnpackReply>): UnpackReply => {
  switch (outcome.kind) {
    case 'answer':
      return outcome.answer;
    case 'breach':
      return { kind: 'refused', reason: outcome.breach.message };
    case 'timeout':
      return { kind: 'refused', reason: 'it took too long' };
    case 'ended':
      return { kind: 'refused', reason: 'the process that unpacks it ended before it was done' };
  }
};
