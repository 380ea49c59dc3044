import { describe, expect, it } from '@jest/globals';
import path from 'node:path';
import { Cgroups, type CgroupFiles } from './cgroups.js';
import { folderPrefix } from './stale-folders.js';

const SERVER = 4_000_001;
const NPM = 4_000_000;
const LIMITS = { memoryBytes: 1_000_000, processes: 72 };

/** Cgroup file system in memory. New folders get their files, and only a folder without a process can be removed. */
class Tree implements CgroupFiles {
  readonly written: string[] = [];
  readonly opened: string[] = [];

  constructor(
    private readonly files: Map<string, string>,
    private readonly born: readonly string[],
  ) {}

  read(file: string): string {
    const text = this.files.get(file);
    if (text === undefined) throw new Error(`ENOENT ${file}`);
    return text;
  }
  write(file: string, text: string): void {
    this.read(file);
    if (path.basename(file) === 'cgroup.procs') {
      const inside = [...this.files].filter(([name]) => path.basename(name) === 'cgroup.procs');
      for (const [name, pids] of inside) this.files.set(name, pids.replace(`${text}\n`, ''));
      this.files.set(file, `${this.read(file)}${text}\n`);
    } else this.files.set(file, text);
    this.written.push(`${file} = ${text}`);
  }
  exists(file: string): boolean {
    return this.files.has(file) || [...this.files.keys()].some((name) => name.startsWith(`${file}/`));
  }
  list(dir: string): string[] {
    const below = [...this.files.keys()].filter((name) => name.startsWith(`${dir}/`));
    return [...new Set(below.map((name) => name.slice(dir.length + 1).split('/')[0] ?? ''))];
  }
  mkdir(dir: string): void {
    for (const name of this.born) this.files.set(`${dir}/${name}`, '');
  }
  rmdir(dir: string): void {
    if (this.read(`${dir}/cgroup.procs`) !== '') throw new Error('EBUSY');
    for (const name of this.list(dir)) this.files.delete(`${dir}/${name}`);
  }
  openForWriting(file: string): number {
    this.read(file);
    return this.opened.push(file);
  }
  close(fd: number): void {
    if (this.opened[fd - 1] === undefined) throw new Error('EBADF');
  }
}

const V1_MOUNTS = `35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
39 31 0:36 /docker/abc /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
`;
const V1_BORN = ['cgroup.procs', 'memory.limit_in_bytes', 'memory.memsw.limit_in_bytes', 'pids.max'];

const v1 = (): Tree =>
  new Tree(
    new Map([
      ['/proc/self/cgroup', '8:pids:/docker/abc/x\n4:memory:/own\n0::/\n'],
      ['/proc/self/mountinfo', V1_MOUNTS],
      ['/sys/fs/cgroup/unified/cgroup.controllers', '\n'],
      ['/sys/fs/cgroup/memory/own/cgroup.procs', ''],
      ['/sys/fs/cgroup/pids/x/cgroup.procs', ''],
    ]),
    V1_BORN,
  );

const V2_BORN = ['cgroup.procs', 'memory.max', 'memory.swap.max', 'memory.oom.group', 'memory.events', 'pids.max'];
const UNIT = '/sys/fs/cgroup/system.slice/sluice.service';

const v2 = (change: Readonly<Record<string, string>> = {}): Tree =>
  new Tree(
    new Map([
      ['/proc/self/cgroup', '0::/system.slice/sluice.service\n'],
      ['/proc/self/mountinfo', '30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n'],
      [`/proc/${SERVER}/stat`, `${SERVER} (node (x)) S ${NPM} 1`],
      [`/proc/${NPM}/stat`, `${NPM} (npm) S 1 1`],
      [`${UNIT}/cgroup.controllers`, 'cpu memory pids\n'],
      [`${UNIT}/cgroup.subtree_control`, '\n'],
      [`${UNIT}/cgroup.procs`, `${NPM}\n${SERVER}\n`],
      ...Object.entries(change),
    ]),
    V2_BORN,
  );

const find = (tree: Tree): Cgroups => {
  const found = Cgroups.find(tree, SERVER);
  if (typeof found === 'string') throw new Error(found);
  return found;
};
const parts = (written: readonly string[]): string[] =>
  written.map((line) => line.replace(/sluice-jail-[^/]*/, 'jail'));

describe('cgroups of jails', () => {
  it('are created below those of the server on v1, even where only a part of the hierarchy is mounted', () => {
    const tree = v1();
    const cgroups = find(tree);
    expect(cgroups.controllers).toEqual(['memory', 'pids']);
    tree.written.length = tree.opened.length = 0;
    cgroups.open(LIMITS);
    expect(parts(tree.written)).toEqual([
      '/sys/fs/cgroup/memory/own/jail/memory.limit_in_bytes = 1000000',
      '/sys/fs/cgroup/memory/own/jail/memory.memsw.limit_in_bytes = 1000000',
      '/sys/fs/cgroup/pids/x/jail/pids.max = 72',
    ]);
    expect(parts(tree.opened)).toEqual([
      '/sys/fs/cgroup/memory/own/jail/cgroup.procs',
      '/sys/fs/cgroup/pids/x/jail/cgroup.procs',
    ]);
  });

  it('are created in a delegated subtree on v2, with the server and its ancestors in a separate leaf', () => {
    const tree = v2();
    const cgroups = find(tree);
    const leaf = `${UNIT}/sluice-server/cgroup.procs`;
    expect(tree.written.slice(0, 3)).toEqual([
      `${leaf} = ${NPM}`,
      `${leaf} = ${SERVER}`,
      `${UNIT}/cgroup.subtree_control = +memory +pids`,
    ]);
    tree.written.length = 0;
    cgroups.open(LIMITS);
    expect(parts(tree.written)).toEqual([
      `${UNIT}/jail/memory.max = 1000000`,
      `${UNIT}/jail/memory.swap.max = 0`,
      `${UNIT}/jail/memory.oom.group = 1`,
      `${UNIT}/jail/pids.max = 72`,
    ]);
  });

  it('are found again by a server that was started in the leaf', () => {
    const tree = v2({
      '/proc/self/cgroup': '0::/system.slice/sluice.service/sluice-server\n',
      [`${UNIT}/cgroup.subtree_control`]: 'memory pids\n',
    });
    find(tree);
    expect(tree.written.filter((line) => line.includes('cgroup.procs'))).toEqual([]);
  });

  it.each([
    ['the controller is not delegated', { [`${UNIT}/cgroup.controllers`]: 'cpu pids\n' }, /not delegated the memory/],
    ['strangers are in the cgroup', { [`${UNIT}/cgroup.procs`]: `${SERVER}\n4000009\n` }, /other processes are in/],
    ['there is no such file system', { '/proc/self/mountinfo': '' }, /no cgroup file system/],
  ])('are not used when %s', (_, change, reason) => {
    const tree = v2(change);
    expect(Cgroups.find(tree, SERVER)).toMatch(reason);
    expect(tree.written).toEqual([]);
  });

  it('are removed when the jail or the server that created them has ended', async () => {
    const namespace = /^sluice-jail-(\d+)-/.exec(folderPrefix('jail'))?.[1] ?? '';
    const tree = v2({
      [`${UNIT}/sluice-jail-${namespace}-4999999-5-1/cgroup.procs`]: '',
      [`${UNIT}/sluice-jail-1-4999999-5-1/cgroup.procs`]: '',
    });
    const cgroups = find(tree);
    const jails = (): string[] => tree.list(UNIT).filter((name) => name.startsWith('sluice-jail'));
    // The owner of a cgroup of another pid namespace cannot be checked.
    expect(jails()).toEqual(['sluice-jail-1-4999999-5-1']);
    const jail = cgroups.open(LIMITS);
    expect(jails()).toHaveLength(2);
    await jail.remove();
    expect(jails()).toHaveLength(1);
  });

  it('report a process that the kernel killed for lack of memory', () => {
    const tree = v2();
    const jail = find(tree).open(LIMITS);
    expect(jail.ranOutOfMemory()).toBe(false);
    const [name = ''] = tree.list(UNIT).filter((one) => one.startsWith('sluice-jail'));
    tree.write(`${UNIT}/${name}/memory.events`, 'low 0\nmax 7\noom 1\noom_kill 1\noom_group_kill 0\n');
    expect(jail.ranOutOfMemory()).toBe(true);
  });

  it('leave nothing behind when a limit cannot be set', () => {
    const tree = new Tree(
      new Map([
        ['/proc/self/cgroup', '4:memory:/own\n'],
        ['/proc/self/mountinfo', V1_MOUNTS],
        ['/sys/fs/cgroup/unified/cgroup.controllers', '\n'],
        ['/sys/fs/cgroup/memory/own/cgroup.procs', ''],
      ]),
      ['cgroup.procs'],
    );
    expect(Cgroups.find(tree, SERVER)).toMatch(/memory\.limit_in_bytes/);
    expect(tree.list('/sys/fs/cgroup/memory/own')).toEqual(['cgroup.procs']);
  });
});
