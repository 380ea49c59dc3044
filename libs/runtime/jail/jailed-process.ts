import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, fstatSync, openSync, readSync, unlinkSync } from 'node:fs';
import { type Socket } from 'node:net';
import path from 'node:path';
import {
  DOWN_FD,
  MAX_CHILD_RECORD_BYTES,
  MB,
  ProtocolBreach,
  RecordParser,
  UP_FD,
  type RawRecord,
} from '../protocol.js';
import { type JailLevel, type JailSpec, type SpawnPlan } from './jail-level.js';

const STDERR_KEPT = 16 * 1024;
const MAX_SPILL = 16 * MB;

export interface ProcessEnd {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** First part of what it wrote there. */
  readonly stderr: string;
  /** What it said last without its having reached the socket (child/uplink.ts). */
  readonly spilled: Buffer;
}

export interface JailedProcessHandlers {
  onRecord(record: RawRecord): void;
  /** After the records of one read. */
  onRead(): void;
  /** The child broke the protocol; it is being killed. */
  onBreach(breach: ProtocolBreach): void;
}

/** One process in its jail, with its two sockets and its spill file. */
export class JailedProcess {
  /** Settles once the process ended and all that it had said was read. */
  readonly ended: Promise<ProcessEnd>;
  readonly plan: SpawnPlan;
  private readonly child: ChildProcess;
  private readonly down: Socket;
  private stderr = '';
  private deaf = false;

  /** Throws when the program cannot be started at all. */
  constructor(
    level: JailLevel,
    spec: JailSpec,
    private readonly handlers: JailedProcessHandlers,
    /** Awaited before `ended` settles. */
    free: () => Promise<void> = () => Promise.resolve(),
  ) {
    const plan = level.plan(spec);
    this.plan = plan;
    const spill = openSpill(spec.privateDir);
    try {
      this.child = spawn(plan.file, plan.args, {
        cwd: plan.cwd,
        env: {},
        detached: true,
        stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', spill],
        ...(plan.uid === null ? {} : { uid: plan.uid, gid: plan.uid }),
      });
    } catch (error) {
      closeSync(spill);
      throw error;
    }
    // 'pipe' gives sockets; the type of stdio does not say so.
    this.down = this.child.stdio[DOWN_FD] as Socket;
    const up = this.child.stdio[UP_FD] as Socket;
    // A write to a process that has ended is no news: `ended` tells.
    this.down.on('error', () => this.down.destroy());
    up.on('error', () => up.destroy());
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => this.keepStderr(text));
    const parser = new RecordParser(MAX_CHILD_RECORD_BYTES, (record) => this.handlers.onRecord(record));
    up.on('data', (chunk: Buffer) => this.read(parser, chunk));
    this.ended = this.watch(spill).then((end) => free().then(() => end));
  }

  send(record: Buffer): void {
    if (this.down.writable) this.down.write(record);
  }

  /** The child ends by itself when nobody speaks to it any more. */
  hangUp(): void {
    this.down.end();
  }

  kill(): void {
    const pid = this.child.pid;
    if (pid === undefined || this.child.exitCode !== null || this.child.signalCode !== null) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // No such group any more: the leader is being reaped.
      this.child.kill('SIGKILL');
    }
  }

  private read(parser: RecordParser, chunk: Buffer): void {
    if (this.deaf) return;
    try {
      parser.push(chunk);
      this.handlers.onRead();
    } catch (error) {
      this.deaf = true;
      this.kill();
      if (!(error instanceof ProtocolBreach)) throw error;
      this.handlers.onBreach(error);
    }
  }

  private keepStderr(text: string): void {
    if (this.stderr.length < STDERR_KEPT) this.stderr += text.slice(0, STDERR_KEPT - this.stderr.length);
  }

  private watch(spill: number): Promise<ProcessEnd> {
    return new Promise((resolve) => {
      let settled = false;
      const settle = (exitCode: number | null, signal: NodeJS.Signals | null): void => {
        if (settled) return;
        settled = true;
        const spilled = readSpill(spill);
        closeSync(spill);
        resolve({ exitCode, signal, stderr: this.stderr, spilled });
      };
      this.child.once('error', (error) => {
        this.keepStderr(String(error));
        settle(null, null);
      });
      this.child.once('exit', () => {
        // Something else may hold its sockets; nothing may wait for that.
        const late = setTimeout(() => this.child.stdio.forEach((stream) => stream?.destroy()), 2_000);
        this.child.once('close', () => clearTimeout(late));
      });
      this.child.once('close', settle);
    });
  }
}

const openSpill = (dir: string): number => {
  const file = path.join(dir, 'spill');
  const fd = openSync(file, 'wx+', 0o600);
  unlinkSync(file);
  return fd;
};

const readSpill = (fd: number): Buffer => {
  const buffer = Buffer.alloc(Math.min(fstatSync(fd).size, MAX_SPILL));
  const length = buffer.length === 0 ? 0 : readSync(fd, buffer, 0, buffer.length, 0);
  return buffer.subarray(0, length);
};
