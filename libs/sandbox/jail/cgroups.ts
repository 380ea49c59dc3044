import { pause } from '#libs/async/pause.js';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { messageOf } from '#libs/kernel/error-message.js';
import { folderPrefix, isStale } from './stale-folders.js';

export interface CgroupLimits {
  readonly memoryBytes: number;
  /** Maximum number of processes and threads. */
  readonly processes: number;
}

/** The limits of one jail. */
export interface Cgroup {
  /** Open files. A process enters by writing `0` to each. Close them once the process has started. */
  readonly entries: readonly number[];
  closeEntries(): void;
  /** True when the kernel killed a process of the cgroup for lack of memory. */
  ranOutOfMemory(): boolean;
  /** Kills the remaining processes and removes the cgroup. */
  remove(): Promise<void>;
}

/** Used part of the file system, so that tests can simulate the kernel. Throws the errors of node:fs. */
export interface CgroupFiles {
  read(file: string): string;
  write(file: string, text: string): void;
  exists(file: string): boolean;
  list(dir: string): readonly string[];
  mkdir(dir: string): void;
  rmdir(dir: string): void;
  openForWriting(file: string): number;
  close(fd: number): void;
}

const HOST_FILES: CgroupFiles = {
  read: (file) => readFileSync(file, 'utf8'),
  write: (file, text) => writeFileSync(file, text),
  exists: (file) => existsSync(file),
  list: (dir) => readdirSync(dir),
  mkdir: (dir) => mkdirSync(dir),
  rmdir: (dir) => rmdirSync(dir),
  openForWriting: (file) => openSync(file, 'w'),
  close: (fd) => closeSync(fd),
};

export type Controller = 'memory' | 'pids';

interface Parent {
  readonly version: 1 | 2;
  readonly dir: string;
  readonly controllers: readonly Controller[];
}

const CONTROLLERS: readonly Controller[] = ['memory', 'pids'];
/** Cgroup of the server itself on v2, where a cgroup that limits its children may not contain processes. */
const SERVER_LEAF = 'sluice-server';
const KILL_TRIES = 200;
let count = 0;

/** Creates one cgroup per jail, below the server's own. Nothing outside the server's cgroup changes. */
export class Cgroups {
  private constructor(
    private readonly parents: readonly Parent[],
    private readonly files: CgroupFiles,
  ) {}

  /** Finds the usable cgroups of this host, or returns the reason for none. Removes leftovers of killed servers. */
  static find(files: CgroupFiles = HOST_FILES, pid: number = process.pid): Cgroups | string {
    try {
      const parents = findParents(files, pid);
      if (typeof parents === 'string') return parents;
      const cgroups = new Cgroups(parents, files);
      for (const { dir } of parents) {
        for (const name of files.list(dir)) if (isStale(name)) cgroups.tryRemove([path.join(dir, name)]);
      }
      // Checks that limits can be set before a jail relies on them.
      const trial = cgroups.open({ memoryBytes: 64 * 1024 * 1024, processes: 16 });
      trial.closeEntries();
      cgroups.tryRemove(cgroups.dirsOf(count));
      return cgroups;
    } catch (error) {
      return `cgroups: ${messageOf(error)}`;
    }
  }

  get controllers(): readonly Controller[] {
    return this.parents.flatMap(({ controllers }) => controllers);
  }

  /** Creates a cgroup. Throws when that fails. */
  open(limits: CgroupLimits): Cgroup {
    const { files } = this;
    const dirs = this.dirsOf(++count);
    const entries: number[] = [];
    const closeEntries = (): void => entries.splice(0).forEach((fd) => files.close(fd));
    try {
      this.parents.forEach((parent, index) => {
        const dir = dirs[index] ?? '';
        files.mkdir(dir);
        limit(files, dir, parent, limits);
        entries.push(files.openForWriting(path.join(dir, 'cgroup.procs')));
      });
    } catch (error) {
      closeEntries();
      this.tryRemove(dirs);
      throw error;
    }
    const ranOutOfMemory = (): boolean => dirs.some((dir) => killsIn(files, dir) > 0);
    return { entries, closeEntries, ranOutOfMemory, remove: () => this.remove(dirs) };
  }

  /** Names of this server's existing cgroups. */
  leftovers(): string[] {
    return this.parents.flatMap(({ dir }) =>
      this.files.list(dir).filter((name) => name.startsWith(folderPrefix('jail'))),
    );
  }

  private dirsOf(index: number): string[] {
    return this.parents.map(({ dir }) => path.join(dir, `${folderPrefix('jail')}${index}`));
  }

  /** Retries, because a killed process leaves its cgroup with a delay. The next server start removes a leftover. */
  private async remove(dirs: readonly string[]): Promise<void> {
    for (let tries = 0; tries < KILL_TRIES; tries++) {
      if (this.tryRemove(dirs)) return;
      await pause(Math.min(1 + tries, 20));
    }
  }

  private tryRemove(dirs: readonly string[]): boolean {
    let gone = true;
    for (const dir of dirs.filter((one) => this.files.exists(one))) {
      try {
        killAll(this.files, dir);
        this.files.rmdir(dir);
      } catch {
        // The cgroup is busy or belongs to another user.
        gone = false;
      }
    }
    return gone;
  }
}

/** Files that count kills, for v2 and v1. */
const KILL_COUNTS = ['memory.events', 'memory.oom_control'];

const killsIn = (files: CgroupFiles, dir: string): number => {
  const file = KILL_COUNTS.map((name) => path.join(dir, name)).find((one) => files.exists(one));
  return file === undefined ? 0 : Number(/^oom_kill (\d+)$/m.exec(files.read(file))?.[1] ?? 0);
};

const killAll = (files: CgroupFiles, dir: string): void => {
  for (const line of files.read(path.join(dir, 'cgroup.procs')).split('\n')) {
    const pid = Number(line);
    if (pid <= 0) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has already ended.
    }
  }
};

const limit = (files: CgroupFiles, dir: string, { version, controllers }: Parent, limits: CgroupLimits): void => {
  const set = (name: string, value: number, needed = true): void => {
    const file = path.join(dir, name);
    if (needed || files.exists(file)) files.write(file, String(value));
  };
  if (controllers.includes('memory')) {
    if (version === 2) {
      set('memory.max', limits.memoryBytes);
      set('memory.swap.max', 0, false);
      set('memory.oom.group', 1, false);
    } else {
      set('memory.limit_in_bytes', limits.memoryBytes);
      // This limits the sum of memory and swap, so it allows no swap.
      set('memory.memsw.limit_in_bytes', limits.memoryBytes, false);
    }
  }
  if (controllers.includes('pids')) set('pids.max', limits.processes);
};

/** Cgroups of the server that accept children, or the reason for none. */
const findParents = (files: CgroupFiles, pid: number): readonly Parent[] | string => {
  const own = ownPaths(files);
  const mounts = cgroupMounts(files);
  const unified = mounts.find(({ type }) => type === 'cgroup2');
  const reasons: string[] = [];
  if (unified) {
    const parent = unifiedParent(files, locate(unified, own.get('') ?? '/'), pid);
    if (typeof parent !== 'string') return [parent];
    reasons.push(parent);
  }
  const parents = CONTROLLERS.flatMap((controller): Parent[] => {
    const mount = mounts.find(({ type, options }) => type === 'cgroup' && options.includes(controller));
    const where = own.get(controller);
    if (!mount || where === undefined) return [];
    return [{ version: 1, dir: locate(mount, where), controllers: [controller] }];
  });
  // Two controllers in one hierarchy share one folder.
  const byDir = new Map<string, Parent>();
  for (const parent of parents) {
    const other = byDir.get(parent.dir);
    byDir.set(parent.dir, other ? { ...parent, controllers: [...other.controllers, ...parent.controllers] } : parent);
  }
  if (byDir.size > 0) return [...byDir.values()];
  return reasons[0] ?? 'no cgroup file system with the controllers memory and pids is mounted';
};

/** Path of the server's cgroup by controller. The key of v2 is "". */
const ownPaths = (files: CgroupFiles): Map<string, string> => {
  const paths = new Map<string, string>();
  for (const line of files.read('/proc/self/cgroup').split('\n')) {
    const [, names, where] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (names !== undefined && where !== undefined) for (const name of names.split(',')) paths.set(name, where);
  }
  return paths;
};

interface CgroupMount {
  readonly type: 'cgroup' | 'cgroup2';
  /** Mounted part of the hierarchy. */
  readonly root: string;
  readonly at: string;
  readonly options: readonly string[];
}

const cgroupMounts = (files: CgroupFiles): CgroupMount[] =>
  files
    .read('/proc/self/mountinfo')
    .split('\n')
    .flatMap((line) => {
      const [, root, at, type, options] = /^\d+ \d+ \S+ (\S+) (\S+) .*? - (cgroup2?) \S+ (\S+)$/.exec(line) ?? [];
      if (root === undefined || at === undefined || (type !== 'cgroup' && type !== 'cgroup2')) return [];
      return [{ type, root, at, options: (options ?? '').split(',') }];
    });

const locate = ({ root, at }: CgroupMount, where: string): string => path.join(at, path.relative(root, where));

/** Moves the server into a leaf beside its jails on v2. Only its ancestor processes may be in the cgroup with it. */
const unifiedParent = (files: CgroupFiles, own: string, pid: number): Parent | string => {
  const dir = path.basename(own) === SERVER_LEAF ? path.dirname(own) : own;
  const offered = files.read(path.join(dir, 'cgroup.controllers')).trim().split(' ');
  const controllers = CONTROLLERS.filter((one) => offered.includes(one));
  if (!controllers.includes('memory')) return `the cgroup ${dir} is not delegated the memory controller`;
  const enabled = files.read(path.join(dir, 'cgroup.subtree_control')).trim().split(' ');
  if (controllers.every((one) => enabled.includes(one))) return { version: 2, dir, controllers };
  const inside = files.read(path.join(dir, 'cgroup.procs')).split('\n').map(Number).filter(Boolean);
  const family = ancestors(files, pid);
  if (!inside.every((one) => family.includes(one))) return `other processes are in the server's cgroup ${dir}`;
  const leaf = path.join(dir, SERVER_LEAF);
  if (inside.length > 0 && !files.exists(leaf)) files.mkdir(leaf);
  for (const one of inside) files.write(path.join(leaf, 'cgroup.procs'), String(one));
  files.write(path.join(dir, 'cgroup.subtree_control'), controllers.map((one) => `+${one}`).join(' '));
  return { version: 2, dir, controllers };
};

/** A process and its ancestors. */
const ancestors = (files: CgroupFiles, pid: number): number[] => {
  const found: number[] = [];
  for (let one = pid; one > 0 && !found.includes(one);) {
    found.push(one);
    const file = `/proc/${one}/stat`;
    if (!files.exists(file)) break;
    const stat = files.read(file);
    one = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
  }
  return found;
};
