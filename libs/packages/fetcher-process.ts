import { spawn, type ChildProcess } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { nodeFlags, folderPrefix, removeStaleFolders, uids } from '#libs/sandbox/index.js';
import { DOWN_FD, encodeRecord, RecordParser, UP_FD } from '#libs/framing/records.js';
import {
  MAX_FETCHER_RECORD_BYTES,
  parseFetcherReply,
  type FetcherOrder,
  type FetcherReply,
  type FetchOrder,
  type ProxyOrder,
  type Resolution,
  type ResolveOrder,
} from './fetcher/message.js';
import { fetcherCode } from './fetcher-build.js';
import { unavailable } from './refusals.js';
import { type RegistryRule } from './registry-rules.js';

/** Heap of the fetcher. Descriptions of large packages take hundreds of megabytes while they are read. */
const MEMORY_MB = 768;
const IDLE_MS = 60_000;
/** Time for a cancelled work to end before the process is killed. */
const CANCEL_MS = 2_000;
const STDERR_KEPT = 4_000;

interface Running {
  readonly child: ChildProcess;
  readonly down: Socket;
  readonly ended: Promise<void>;
}

interface Opened {
  readonly dir: string;
  readonly uid: number | null;
  /** File of the operator's own certificate authorities. */
  readonly ca: string | null;
}

interface Waiting {
  readonly resolve: (reply: FetcherReply) => void;
  readonly reject: (error: Error) => void;
}

/**
 * The process that requests registries and downloads tarballs. It has the tokens and an empty environment. Its files
 * are its code and one folder, and under root it has a separate user. It starts on demand and ends when idle.
 */
export class FetcherProcess {
  private running: Promise<Running> | undefined;
  private opened: Promise<Opened> | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private count = 0;
  private idle: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly registries: readonly RegistryRule[],
    private readonly proxy: ProxyOrder | null = null,
  ) {}

  /** Rejects with DomainError component.package_unavailable. */
  async resolve(order: ResolveOrder, signal: AbortSignal): Promise<Resolution> {
    const reply = await this.ask((id) => ({ t: 'resolve', id, order }), signal);
    if (reply.t !== 'resolved') throw refused(reply);
    return reply.resolution;
  }

  /** Downloads a tarball into a file that every user can read. Rejects with DomainError component.package_unavailable. */
  async fetch(
    order: Omit<FetchOrder, 'file'>,
    signal: AbortSignal,
  ): Promise<{ readonly file: string; readonly bytes: number }> {
    const { dir } = await this.folder();
    const file = path.join(dir, 'work', `tarball-${++this.count}`);
    const reply = await this.ask((id) => ({ t: 'fetch', id, order: { ...order, file } }), signal).catch(
      async (error: unknown) => {
        await rm(file, { force: true });
        throw error;
      },
    );
    if (reply.t === 'fetched') return { file, bytes: reply.bytes };
    await rm(file, { force: true });
    throw refused(reply);
  }

  /** Ends the process and removes its folder. Idempotent. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.idle);
    const running = await this.running?.catch(() => undefined);
    running?.child.kill('SIGKILL');
    await running?.ended;
    const opened = await this.opened?.catch(() => undefined);
    this.opened = undefined;
    if (!opened) return;
    uids.release(opened.uid);
    await rm(opened.dir, { recursive: true, force: true });
  }

  private async ask(order: (id: number) => FetcherOrder, signal: AbortSignal): Promise<FetcherReply> {
    clearTimeout(this.idle);
    const id = ++this.count;
    signal.throwIfAborted();
    try {
      const reply = await new Promise<FetcherReply>((resolve, reject) => {
        this.waiting.set(id, { resolve, reject });
        this.start().then(
          (running) => this.hear(running, id, order(id), signal),
          (error: unknown) => reject(error instanceof Error ? error : new Error(String(error))),
        );
      });
      signal.throwIfAborted();
      return reply;
    } finally {
      this.waiting.delete(id);
      if (this.waiting.size === 0 && !this.closed) {
        clearTimeout(this.idle);
        this.idle = setTimeout(() => void this.running?.then(({ child }) => child.kill('SIGKILL')), IDLE_MS);
        this.idle.unref();
      }
    }
  }

  private hear({ child, down }: Running, id: number, order: FetcherOrder, signal: AbortSignal): void {
    const cancel = (): void => {
      down.write(encodeRecord(0, { t: 'cancel', id } satisfies FetcherOrder));
      setTimeout(() => {
        if (this.waiting.has(id)) child.kill('SIGKILL');
      }, CANCEL_MS).unref();
    };
    down.write(encodeRecord(0, order));
    if (signal.aborted) cancel();
    else signal.addEventListener('abort', cancel, { once: true });
  }

  private start(): Promise<Running> {
    if (this.closed) return Promise.reject(new Error('the server is stopping'));
    this.running ??= this.spawn().catch((error: unknown) => {
      this.running = undefined;
      throw error;
    });
    return this.running;
  }

  private async spawn(): Promise<Running> {
    const { dir, uid, ca } = await this.folder();
    const work = path.join(dir, 'work');
    const file = path.join(dir, 'fetcher.cjs');
    const flags = nodeFlags({ memoryMb: MEMORY_MB }, [file, work], work);
    const child = spawn(process.execPath, [...flags, file], {
      cwd: work,
      // The user of the process has no account, so no home either.
      env: { HOME: work, ...(ca === null ? {} : { NODE_EXTRA_CA_CERTS: ca }) },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
      ...(uid === null ? {} : { uid, gid: uid }),
    });
    // 'pipe' gives sockets, which the type of stdio does not express.
    const down = child.stdio[DOWN_FD] as Socket;
    const up = child.stdio[UP_FD] as Socket;
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-STDERR_KEPT)));
    down.on('error', () => down.destroy());
    up.on('error', () => up.destroy());
    const parser = new RecordParser(MAX_FETCHER_RECORD_BYTES, (record) => {
      const reply = parseFetcherReply(record);
      this.waiting.get(reply.id)?.resolve(reply);
    });
    up.on('data', (chunk: Buffer) => {
      try {
        parser.push(chunk);
      } catch (error) {
        stderr = String(error);
        child.kill('SIGKILL');
      }
    });
    const ended = new Promise<void>((resolve) => {
      const over = (): void => {
        this.running = undefined;
        const error = new FetcherEnded(stderr);
        for (const { reject } of this.waiting.values()) reject(error);
        resolve();
      };
      child.once('error', over);
      child.once('exit', over);
    });
    const order: FetcherOrder = { t: 'configure', registries: this.registries, proxy: this.proxy, folder: work };
    down.write(encodeRecord(0, order));
    return { child, down, ended };
  }

  /** The folder with the code of the process, and in it the folder that it may write. */
  private folder(): Promise<Opened> {
    this.opened ??= (async () => {
      const code = await fetcherCode();
      await removeStaleFolders(tmpdir());
      const dir = await realpath(await mkdtemp(path.join(tmpdir(), folderPrefix('jail'))));
      // Jailed users may traverse the folders but not list them.
      await chmod(dir, 0o711);
      const uid = (await openToAll([process.execPath, dir])) ? uids.acquire() : null;
      const file = path.join(dir, 'fetcher.cjs');
      await writeFile(file, code);
      await chmod(file, 0o644);
      const work = path.join(dir, 'work');
      await mkdir(work);
      await chmod(work, 0o711);
      if (uid !== null) await chown(work, uid, uid);
      return { dir, uid, ca: await copyOfCertificates(dir) };
    })();
    return this.opened;
  }
}

/**
 * Whether another user can reach each of these. TMPDIR and Node may be in a folder of root; then the process has the
 * user of the server.
 */
const openToAll = async (places: readonly string[]): Promise<boolean> => {
  const above = (place: string): readonly string[] =>
    place === path.dirname(place) ? [place] : [place, ...above(path.dirname(place))];
  const modes = await Promise.all(places.flatMap(above).map(async (place) => (await stat(place)).mode));
  return modes.every((mode) => (mode & 0o001) !== 0);
};

/**
 * A copy of the operator's own certificate authorities, which a private registry may need. The process's user may not
 * be able to read the original. Null without one. Node warns at its start about a file that cannot be read.
 */
const copyOfCertificates = async (dir: string): Promise<string | null> => {
  const file = process.env.NODE_EXTRA_CA_CERTS;
  const text = file === undefined || file === '' ? null : await readFile(file).catch(() => null);
  if (text === null) return null;
  const copy = path.join(dir, 'ca.pem');
  await writeFile(copy, text);
  await chmod(copy, 0o644);
  return copy;
};

/** The process ended while it worked. Its standard error is for the log. */
export class FetcherEnded extends Error {
  constructor(stderr: string) {
    super(`the process that fetches packages ended: ${stderr.trim().slice(-1_000)}`);
    this.name = 'FetcherEnded';
  }
}

const refused = (reply: FetcherReply): Error =>
  reply.t === 'failed'
    ? unavailable(reply.message, reply.package)
    : new Error('the process that fetches packages answered another question');
