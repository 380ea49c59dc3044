import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, fstatSync, openSync, readSync, unlinkSync } from 'node:fs';
import { type Socket } from 'node:net';
import { setPriority } from 'node:os';
import path from 'node:path';
import { types } from 'node:util';
import { cpuMsOf } from '../host/process-cpu.js';
import { INPUT_FD, MAX_CHILD_RECORD_BYTES, MB } from '../protocol/protocol.js';
import { DOWN_FD, ProtocolBreach, RecordParser, UP_FD, type RawRecord } from '#libs/framing/records.js';
import { type Cgroup } from './cgroups.js';
import { entered } from './entry.js';
import { type JailLevel, type JailSpec, type SpawnPlan } from './jail-level.js';
import { MAX_PROCESSES, memoryLimitBytes } from './node-flags.js';

const STDERR_KEPT = 16 * 1024;
/** Limit beyond which standard error is closed. A flood then costs its writer an EPIPE and the server nothing. */
const STDERR_READ = 64 * 1024;
/** Size limit of the spill file, which holds one record and the records before it in the same tick. */
const MAX_SPILL = 2 * MAX_CHILD_RECORD_BYTES;
const SPILL_CHECK_MS = 250;
/** Maximum number of records of one child handled per turn of the event loop. */
const RECORDS_A_TURN = 256;
/** Extra processes that build a jail and wait for its end. */
const BUILDERS = 8;

export interface ProcessEnd {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** True when the kernel killed it for lack of memory. Known only where the jail has a cgroup. */
  readonly outOfMemory: boolean;
  /** First part of its standard error. */
  readonly stderr: string;
  /** Last records, which did not reach the socket (child/uplink.ts). */
  readonly spilled: Buffer;
}

export interface JailedProcessHandlers {
  /** Size limit of a record from the child. Default: MAX_CHILD_RECORD_BYTES. */
  readonly maxRecordBytes?: number;
  onRecord(record: RawRecord): void;
  /** Called after the records of one read, with the bytes of an incomplete record. May throw ProtocolBreach. */
  onRead(pendingBytes: number): void;
  /** Called when the child broke the protocol and is being killed. */
  onBreach(breach: ProtocolBreach): void;
}

/** Process in its jail, with its two sockets and its spill file. */
export class JailedProcess {
  /** Settles once the process has ended and all its records were read. */
  readonly ended: Promise<ProcessEnd>;
  readonly plan: SpawnPlan;
  private readonly child: ChildProcess;
  private readonly down: Socket;
  private readonly up: Socket;
  private stderr = '';
  private stderrRead = 0;
  private deaf = false;
  private paused = false;
  private readInTurn = 0;
  private killed = false;

  /** Throws when the program cannot be started. */
  constructor(
    level: JailLevel,
    spec: JailSpec,
    private readonly handlers: JailedProcessHandlers,
    /** Awaited before `ended` resolves. */
    free: () => Promise<void> = () => Promise.resolve(),
  ) {
    const plan = level.plan(spec);
    this.plan = plan;
    const spill = openSpill(spec.privateDir);
    let cgroup: Cgroup | undefined;
    try {
      cgroup = level.entry?.cgroups?.open({
        memoryBytes: memoryLimitBytes(spec.memoryMb) + spec.tmpMb * MB,
        processes: MAX_PROCESSES + BUILDERS,
      });
      const entries = cgroup?.entries ?? [];
      const input = plan.input === undefined ? [] : (['pipe'] as const);
      const command = entered(level.entry, INPUT_FD + input.length, entries.length, plan);
      this.child = spawn(command.file, command.args, {
        cwd: plan.cwd,
        env: {},
        detached: true,
        stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', spill, ...input, ...entries],
        ...(plan.uid === null ? {} : { uid: plan.uid, gid: plan.uid }),
      });
      cgroup?.closeEntries();
    } catch (error) {
      cgroup?.closeEntries();
      void cgroup?.remove();
      closeSync(spill);
      throw error;
    }
    if (plan.input !== undefined) this.feed(plan.input);
    behindTheServer(this.child.pid);
    // 'pipe' gives sockets, which the type of stdio does not express.
    this.down = this.child.stdio[DOWN_FD] as Socket;
    const up = this.child.stdio[UP_FD] as Socket;
    this.up = up;
    // A failed write needs no handling, because `ended` reports the end of the process.
    this.down.on('error', () => this.down.destroy());
    up.on('error', () => up.destroy());
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => this.keepStderr(text));
    const parser = new RecordParser(handlers.maxRecordBytes ?? MAX_CHILD_RECORD_BYTES, (record) => {
      this.readInTurn++;
      this.handlers.onRecord(record);
    });
    up.on('data', (chunk: Buffer) => this.read(parser, chunk));
    const spillCheck = setInterval(() => this.checkSpill(spill), SPILL_CHECK_MS);
    spillCheck.unref();
    this.ended = this.watch(spill, () => clearInterval(spillCheck)).then(async (end) => {
      const outOfMemory = cgroup?.ranOutOfMemory() ?? false;
      // Must come before `free`, because remaining processes may still use the folder.
      await cgroup?.remove();
      await free();
      return { ...end, outOfMemory };
    });
  }

  /** CPU time of the process and all its descendants. */
  cpuMs(): number | undefined {
    return this.child.pid === undefined ? undefined : cpuMsOf(this.child.pid);
  }

  /** `sent` is called once the child's socket has taken the record, or never will. */
  send(record: Buffer, sent?: () => void): void {
    if (this.down.writable) this.down.write(record, sent);
    else sent?.();
  }

  /** Closes the socket to the child, which then exits on its own. */
  hangUp(): void {
    this.down.end();
  }

  /** Pauses reading. The child's writes block once the socket is full. */
  pauseReading(): void {
    if (this.killed) return;
    this.paused = true;
    this.up.pause();
  }

  resumeReading(): void {
    this.paused = false;
    this.up.resume();
  }

  kill(): void {
    this.killed = true;
    // Records already written are still read.
    this.resumeReading();
    const pid = this.child.pid;
    if (pid === undefined || this.child.exitCode !== null || this.child.signalCode !== null) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // The group no longer exists, because its leader is being reaped.
      this.child.kill('SIGKILL');
    }
  }

  private feed(input: Buffer): void {
    // 'pipe' gives sockets, as above. `ended` reports a builder that stopped before it had read all of the input.
    const stream = (this.child.stdio as readonly unknown[])[INPUT_FD] as Socket;
    stream.on('error', () => stream.destroy());
    stream.resume().end(input);
  }

  private read(parser: RecordParser, chunk: Buffer): void {
    if (this.deaf) return;
    try {
      if (this.readInTurn === 0) setImmediate(() => this.nextTurn());
      const rest = parser.push(chunk, RECORDS_A_TURN - this.readInTurn);
      if (this.readInTurn >= RECORDS_A_TURN) this.readLater(rest);
      this.handlers.onRead(parser.pending());
    } catch (error) {
      if (!(error instanceof ProtocolBreach)) {
        this.kill();
        throw error;
      }
      this.breach(error);
    }
  }

  /** Defers the rest of a read, so that a child with many small records does not occupy the event loop. */
  private readLater(rest: Buffer): void {
    this.up.pause();
    if (rest.length > 0) this.up.unshift(rest);
  }

  private nextTurn(): void {
    const wasFull = this.readInTurn >= RECORDS_A_TURN;
    this.readInTurn = 0;
    if (wasFull && !this.paused) this.up.resume();
  }

  private breach(breach: ProtocolBreach): void {
    if (this.deaf) return;
    this.deaf = true;
    this.kill();
    this.handlers.onBreach(breach);
  }

  private keepStderr(text: string): void {
    if (this.stderr.length < STDERR_KEPT) this.stderr += text.slice(0, STDERR_KEPT - this.stderr.length);
    this.stderrRead += text.length;
    if (this.stderrRead > STDERR_READ) this.child.stderr?.destroy();
  }

  /** Ends a child whose spill file is too large. The child may write anything to this file on the host's disk. */
  private checkSpill(spill: number): void {
    const { size } = fstatSync(spill);
    if (size > MAX_SPILL)
      this.breach(new ProtocolBreach(`${size} bytes beside the socket, at most ${MAX_SPILL} are allowed`));
  }

  private watch(spill: number, ended: () => void): Promise<ProcessEnd> {
    return new Promise((resolve) => {
      let isOver = false;
      const over = (exitCode: number | null, signal: NodeJS.Signals | null): void => {
        if (isOver) return;
        isOver = true;
        ended();
        const spilled = readSpill(spill);
        closeSync(spill);
        resolve({ exitCode, signal, outOfMemory: false, stderr: this.stderr, spilled });
      };
      this.child.once('error', (error) => {
        this.keepStderr(String(error));
        over(null, null);
      });
      this.child.once('exit', () => {
        // A descendant may still hold the sockets open. Nothing may wait for it.
        const late = setTimeout(() => this.child.stdio.forEach((stream) => stream?.destroy()), 2_000);
        this.child.once('close', () => clearTimeout(late));
      });
      this.child.once('close', over);
    });
  }
}

/** Nice value that keeps user code from delaying the server's event loop. Descendants inherit it. */
const NICE = 5;

const behindTheServer = (pid: number | undefined): void => {
  if (pid === undefined) return;
  try {
    setPriority(pid, NICE);
  } catch (error) {
    // The process has already ended, or belongs to another user and keeps its priority.
    if (!types.isNativeError(error)) throw error;
  }
};

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
