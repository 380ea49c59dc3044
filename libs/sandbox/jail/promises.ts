import { type JailLevel, type JailName } from './jail-level.js';

/** Protections that a jail may offer. SECURITY.md shows this table, and the attack tests read it. */
export const PROTECTIONS = {
  files: 'Files of the host, and code of other sources, cannot be read or changed',
  environment: 'Environment variables of the server cannot be read',
  network: 'No network but the egress guard, not even for code below Node',
  server_process: 'The process of the server cannot be signalled, nor ended',
  other_processes: 'Other processes cannot be seen or signalled',
  programs: 'No other program can be started from JavaScript',
  privileges: 'No capability, and no way to gain one',
  heap: 'Heap and Buffers are limited',
  memory: 'All memory is limited: shared memory, files in /tmp and kernel memory count too',
  processes: 'Processes and threads are limited',
  tmp_size: 'The size of /tmp is limited in total',
  tmp_files: 'The number of files in /tmp is limited',
  tmp_noexec: 'Nothing in /tmp can be executed',
  syscalls: 'System calls that Node does not need are refused (seccomp)',
  oom_priority: 'The kernel ends jailed processes before the server when memory runs out',
} as const;

export type Protection = keyof typeof PROTECTIONS;
const ALL = Object.keys(PROTECTIONS) as Protection[];

/** `host` depends on the host. The log line `server.started` lists missing protections under `without`. */
export type Promised = 'yes' | 'host' | 'no';

const JAILED = {
  files: 'yes',
  environment: 'yes',
  network: 'yes',
  server_process: 'yes',
  other_processes: 'yes',
  programs: 'yes',
  privileges: 'yes',
  heap: 'yes',
  memory: 'host',
  tmp_size: 'yes',
  oom_priority: 'host',
} as const;

export const PROMISES: Readonly<Record<JailName, Readonly<Record<Protection, Promised>>>> = {
  'jail (bwrap)': { ...JAILED, processes: 'host', tmp_files: 'host', tmp_noexec: 'host', syscalls: 'host' },
  'jail (unshare)': { ...JAILED, processes: 'host', tmp_files: 'yes', tmp_noexec: 'yes', syscalls: 'host' },
  process: {
    files: 'yes',
    environment: 'yes',
    network: 'no',
    server_process: 'host',
    other_processes: 'no',
    programs: 'yes',
    privileges: 'no',
    heap: 'host',
    memory: 'host',
    processes: 'host',
    tmp_size: 'no',
    tmp_files: 'no',
    tmp_noexec: 'no',
    syscalls: 'no',
    oom_priority: 'host',
  },
};

/** Requirements of a protection that is promised as `host`. */
export const NEEDS: Readonly<Partial<Record<Protection, string>>> = {
  server_process: 'the server is root, and every user may run the program of Node',
  heap: 'prlimit (package util-linux)',
  memory:
    'a memory cgroup that the server may write to: root on cgroup v1, or a delegated subtree on v2 (systemd: `Delegate=memory pids`)',
  processes: 'the server is root, or user namespaces count processes (Linux 5.14), or a pids cgroup as above',
  tmp_files: 'unshare and mount (packages util-linux, mount), and nested user namespaces when the server is not root',
  tmp_noexec: 'as above',
  syscalls: 'x86_64 or aarch64; at unshare also setpriv 2.40 or later',
  oom_priority: '/proc is writable',
};

/** True when a protection must hold at this level on this host. */
export const isCarried = ({ name, carries }: JailLevel, protection: Protection): boolean =>
  PROMISES[name][protection] === 'yes' || (PROMISES[name][protection] === 'host' && carries?.has(protection) === true);

/** Host-dependent protections of the level that this host does not support. */
export const missingOf = (level: JailLevel): Protection[] =>
  ALL.filter((one) => PROMISES[level.name][one] === 'host' && !isCarried(level, one));

const CELL: Readonly<Record<Promised, string>> = { yes: 'yes', host: 'where the host allows it', no: 'not promised' };

/** Builds the table of SECURITY.md. */
export const promisesTable = (): string => {
  const levels = Object.keys(PROMISES) as JailName[];
  const rows = ALL.map((one) => {
    const cells = levels.map((level) => CELL[PROMISES[level][one]]);
    return `| ${[PROTECTIONS[one], ...cells, NEEDS[one] ?? ''].join(' | ')} |`.replace('|  |', '| |');
  });
  return [
    `| Protection | ${levels.join(' | ')} | where the host allows it: needs |`,
    `| --- |${levels.map(() => ' --- |').join('')} --- |`,
    ...rows,
  ].join('\n');
};
