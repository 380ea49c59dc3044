/** Notes the runs in flight, so that a run that kills its host each time can be ended (docs/adr/0006). */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { type UserError } from '#libs/component-model/run-output.js';
import { userError } from '#libs/sandbox/index.js';

/** Number of deaths of the host during a run after which the run must run alone. */
const SUSPECT_AFTER = 2;
/** Number of deaths of the host while a run ran alone after which the run is not tried again. */
const GIVEN_UP_AFTER = 3;
const MAX_KEPT = 10_000;
const MAX_NOTE_BYTES = 128 * 1024;
const DEATHS = 'deaths.json';
const NOTE = /^started\.(\d+)$/;

export interface HostDeaths {
  /** Undefined when runs may be handed over. While a suspect runs or waits to run alone, resolves after its turn. */
  blocked(): Promise<void> | undefined;
  /** True for a run that must run alone. */
  isSuspect(invocationId: string): boolean;
  /** Notes runs that are about to be handed over. */
  begin(invocationIds: readonly string[]): void;
  /** Notes that a run is committed or has moved to another process. Idempotent. */
  end(invocationId: string): void;
  /** Waits until no other run is in flight, then says whether to run the suspect. `end` ends its turn. */
  alone(invocationId: string): Promise<'run' | 'give up'>;
  /** Number of times that the host was killed during this run. */
  deathsOf(invocationId: string): number;
}

export const NO_HOST_DEATHS: HostDeaths = {
  blocked: () => undefined,
  isSuspect: () => false,
  begin: () => undefined,
  end: () => undefined,
  alone: () => Promise.resolve('run'),
  deathsOf: () => 0,
};

/** @param deaths of the server during the run */
export const hostEndedError = (deaths: number): UserError =>
  userError(
    'HostEnded',
    `the server process was killed ${deaths} times during this run, the last times while nothing else ran: it is not run again`,
  );

interface Count {
  readonly deaths: number;
  /** Deaths while the run ran alone; `deaths` includes them. */
  readonly alone: number;
}

/**
 * Keeps its notes in a local folder. Writes a note before a run is handed over, without a sync, because the notes must
 * survive the death of the process and not that of the kernel.
 */
export class HostDeathNotes implements HostDeaths {
  private readonly running = new Set<string>();
  private readonly waitingAlone: { readonly id: string; readonly resolve: () => void }[] = [];
  private soloist: string | undefined;
  private open: (() => void)[] = [];
  private noteBytes = 0;
  private note: number;
  private failed = false;
  private closed = false;

  private constructor(
    private readonly folder: string,
    private readonly counts: Map<string, Count>,
    private readonly onWarning: (error: unknown) => void,
  ) {
    this.note = openSync(this.noteFile(), 'w', 0o600);
  }

  /** Reads and removes the notes of dead processes. */
  static open(folder: string, onWarning: (error: unknown) => void): HostDeathNotes {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const counts = readCounts(path.join(folder, DEATHS));
    const left = readdirSync(folder).filter((name) => isLeft(name));
    for (const name of left) countDeath(counts, readFileSync(path.join(folder, name), 'utf8'));
    if (left.length > 0) writeDurably(path.join(folder, DEATHS), JSON.stringify(worthKeeping(counts)));
    for (const name of left) rmSync(path.join(folder, name), { force: true });
    return new HostDeathNotes(folder, counts, onWarning);
  }

  blocked(): Promise<void> | undefined {
    if (this.soloist === undefined && this.waitingAlone.length === 0) return undefined;
    return new Promise((resolve) => this.open.push(resolve));
  }

  isSuspect(invocationId: string): boolean {
    return (this.counts.get(invocationId)?.deaths ?? 0) >= SUSPECT_AFTER;
  }

  begin(invocationIds: readonly string[]): void {
    for (const id of invocationIds) this.running.add(id);
    this.write(invocationIds.map((id) => `+ ${id}\n`).join(''));
  }

  end(invocationId: string): void {
    if (this.counts.size > 0) this.counts.delete(invocationId);
    this.running.delete(invocationId);
    if (this.soloist === invocationId) {
      this.soloist = undefined;
      this.write(`- ${invocationId}\n`);
    }
    if (this.running.size === 0 && this.soloist === undefined) this.next();
  }

  async alone(invocationId: string): Promise<'run' | 'give up'> {
    if (this.running.size === 0 && this.soloist === undefined) this.soloist = invocationId;
    else await new Promise<void>((resolve) => this.waitingAlone.push({ id: invocationId, resolve }));
    this.running.add(invocationId);
    if ((this.counts.get(invocationId)?.alone ?? 0) >= GIVEN_UP_AFTER) return 'give up';
    this.write(`! ${invocationId}\n`);
    this.sync();
    return 'run';
  }

  deathsOf(invocationId: string): number {
    return this.counts.get(invocationId)?.deaths ?? 0;
  }

  /** Removes the notes, because the process ends in order. */
  close(): void {
    this.closed = true;
    closeSync(this.note);
    rmSync(this.noteFile(), { force: true });
  }

  private next(): void {
    const waiting = this.waitingAlone.shift();
    if (waiting) {
      // Set before resolving, so that no other run begins before the suspect.
      this.soloist = waiting.id;
      return waiting.resolve();
    }
    for (const resume of this.open.splice(0)) resume();
  }

  private noteFile(): string {
    return path.join(this.folder, `started.${process.pid}`);
  }

  private write(lines: string): void {
    if (this.closed) return;
    try {
      if (this.noteBytes + lines.length > MAX_NOTE_BYTES) this.startOver();
      this.noteBytes += writeSync(this.note, lines);
      this.failed = false;
    } catch (error) {
      // Runs continue without notes, for example on a full disk.
      if (!this.failed) this.onWarning(error);
      this.failed = true;
    }
  }

  private sync(): void {
    if (this.closed) return;
    try {
      fsyncSync(this.note);
    } catch (error) {
      this.onWarning(error);
    }
  }

  /** Replaces the file atomically by one that lists only the runs in flight now. */
  private startOver(): void {
    const file = `${this.noteFile()}.new`;
    const fd = openSync(file, 'w', 0o600);
    this.noteBytes = writeSync(fd, [...this.running].map((id) => `+ ${id}\n`).join(''));
    renameSync(file, this.noteFile());
    closeSync(this.note);
    this.note = fd;
  }
}

/** True for the note of a dead process, or of one that had this process's pid. */
const isLeft = (name: string): boolean => {
  const pid = Number(NOTE.exec(name)?.[1]);
  if (!Number.isInteger(pid)) return false;
  if (pid === process.pid) return true;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
};

const countDeath = (counts: Map<string, Count>, note: string): void => {
  const ended = new Map<string, boolean>();
  for (const line of note.split('\n')) {
    const id = line.slice(2);
    if (line.startsWith('- ')) ended.delete(id);
    else if (id !== '') ended.set(id, line.startsWith('! '));
  }
  for (const [id, alone] of ended) {
    const before = counts.get(id) ?? { deaths: 0, alone: 0 };
    counts.delete(id);
    counts.set(id, { deaths: before.deaths + 1, alone: before.alone + (alone ? 1 : 0) });
  }
};

/** Keeps suspects and the newest others. Runs that ended before the death were counted too, and never come again. */
const worthKeeping = (counts: ReadonlyMap<string, Count>): readonly (readonly [string, Count])[] => {
  const isSuspect = ([, { deaths }]: readonly [string, Count]): boolean => deaths >= SUSPECT_AFTER;
  const all = [...counts];
  return [...all.filter((each) => !isSuspect(each)).slice(-MAX_KEPT), ...all.filter(isSuspect).slice(-MAX_KEPT)];
};

const readCounts = (file: string): Map<string, Count> => {
  try {
    return new Map(JSON.parse(readFileSync(file, 'utf8')) as [string, Count][]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return new Map();
    throw error;
  }
};

const writeDurably = (file: string, text: string): void => {
  const fd = openSync(`${file}.new`, 'w', 0o600);
  writeSync(fd, text);
  fsyncSync(fd);
  closeSync(fd);
  renameSync(`${file}.new`, file);
};
