import { statSync } from 'node:fs';
import { INPUT_FD } from '../protocol/protocol.js';
import { findProgram, orNull, programFiles, type ProgramFiles } from './host-programs.js';
import { type JailSpec, type JailVariant, type SpawnPlan } from './jail-level.js';
import { dataLimitBytes, MAX_PROCESSES, nodeFlags, tmpOptions } from './node-flags.js';
import { type Protection } from './promises.js';
import { seccompFilter } from './seccomp.js';

const DEVICES = ['null', 'zero', 'random', 'urandom'];
const EGRESS = '/egress.sock';

interface Programs {
  readonly bwrap: string;
  readonly prlimit: ProgramFiles;
  readonly node: ProgramFiles;
  /** Programs that mount our own /tmp. Null where one of them is missing. */
  readonly outer: { readonly shell: string; readonly unshare: string; readonly setpriv: string } | null;
  /** Null on an architecture with unknown system call numbers. */
  readonly filter: Buffer | null;
}

interface Shape {
  /** Start bwrap as a dedicated user. */
  readonly ownUser: boolean;
  /** Limit the number of processes per user namespace, inside the jail. */
  readonly limitInside: boolean;
  /** Forbid further user namespaces, which reduces the reachable part of the kernel. */
  readonly lastNamespace: boolean;
  /** Mount /tmp in a namespace around bwrap, because its own --tmpfs supports neither noexec nor a file limit. */
  readonly ownTmp: boolean;
  readonly isRoot: boolean;
}

/**
 * Mounts a private /tmp before bwrap binds it. The folders are mounted beside it, so that bwrap finds them as a user who
 * may not enter the folders above them. Arguments: folder, options, folders, `--`, command.
 */
const TMP_SCRIPT = `set -e
tmp=$1; options=$2; shift 2
mount -t tmpfs -o "$options" tmpfs "$tmp"
count=0
while [ "$1" != -- ]; do
  (umask 022; mkdir -p "$tmp-reads/$count")
  mount --bind "$1" "$tmp-reads/$count"
  count=$((count + 1)); shift
done
shift
exec "$@"
`;

/** Jails with all namespaces new, a minimal root and no capability. Rejects with MissingProgram. */
export const bwrapVariants = async (isRoot: boolean): Promise<readonly JailVariant[]> => {
  const programs: Programs = {
    bwrap: await findProgram('bwrap'),
    prlimit: await programFiles(await findProgram('prlimit')),
    node: await programFiles(process.execPath),
    outer: await orNull(outerPrograms()),
    filter: seccompFilter(),
  };
  const users = isRoot ? [true, false] : [false];
  const shapes = users.flatMap((ownUser) =>
    (programs.outer ? [true, false] : [false]).flatMap((ownTmp) =>
      [true, false].flatMap((lastNamespace) =>
        (ownUser ? [false] : [true, false]).map((limitInside): Shape => ({
          ownUser,
          limitInside,
          lastNamespace,
          ownTmp,
          isRoot,
        })),
      ),
    ),
  );
  return shapes.map((shape) => ({
    label: Object.entries(shape)
      .map(([name, on]) => `${name}=${String(on)}`)
      .join(' '),
    carries: carriedBy(programs, shape),
    plan: (spec: JailSpec) => plan(programs, shape, spec),
  }));
};

const outerPrograms = async (): Promise<NonNullable<Programs['outer']>> => {
  await findProgram('mount');
  return {
    shell: await findProgram('sh'),
    unshare: await findProgram('unshare'),
    setpriv: await findProgram('setpriv'),
  };
};

const carriedBy = ({ filter }: Programs, { ownUser, limitInside, ownTmp, isRoot }: Shape): Protection[] => [
  ...(filter === null ? [] : (['syscalls'] as const)),
  ...(ownTmp ? (['tmp_files', 'tmp_noexec'] as const) : []),
  // The kernel does not apply the process limit to root.
  ...(ownUser || (limitInside && !isRoot) ? (['processes'] as const) : []),
];

/** Folders of the spec that root mounts for the jail's user. Their place is that of their index. */
const foldersFor = ({ ownUser, ownTmp }: Shape, { reads = [], uid }: JailSpec): readonly string[] =>
  ownUser && ownTmp && uid !== null ? reads.map(({ from }) => from).filter((from) => statSync(from).isDirectory()) : [];

const readOnly = (from: string, to = from): string[] => ['--ro-bind', from, to];

const plan = (programs: Programs, shape: Shape, spec: JailSpec): SpawnPlan => {
  const { bwrap, prlimit, node, filter } = programs;
  const folders = foldersFor(shape, spec);
  const seen = (from: string): string =>
    folders.includes(from) ? `${spec.privateDir}-reads/${folders.indexOf(from)}` : from;
  const libraries = new Set([...node.libraries, ...(shape.limitInside ? prlimit.libraries : [])]);
  const limits = [`--data=${dataLimitBytes(spec.memoryMb)}`, `--fsize=${spec.tmpMb * 1024 * 1024}`, '--core=0'];
  const count = `--nproc=${MAX_PROCESSES}`;
  const args = [
    ...['--unshare-all', '--die-with-parent', '--new-session', '--clearenv', '--cap-drop', 'ALL'],
    ...(shape.lastNamespace ? ['--unshare-user', '--disable-userns'] : []),
    ...['--hostname', 'sluice', '--uid', '1000', '--gid', '1000'],
    ...readOnly(node.file, '/node'),
    ...(shape.limitInside ? readOnly(prlimit.file, '/prlimit') : []),
    ...[...libraries].flatMap((library) => readOnly(library)),
    ...readOnly(spec.childFile, '/child.cjs'),
    ...(spec.reads ?? []).flatMap(({ from, to }) => readOnly(seen(from), to)),
    ...(spec.egressSocket === undefined ? [] : readOnly(spec.egressSocket, EGRESS)),
    ...['--dir', '/dev', ...DEVICES.flatMap((device) => ['--dev-bind', `/dev/${device}`, `/dev/${device}`])],
    ...(shape.ownTmp
      ? ['--bind', spec.privateDir, '/tmp']
      : ['--size', String(spec.tmpMb * 1024 * 1024), '--tmpfs', '/tmp']),
    ...['--chdir', '/tmp', '--remount-ro', '/'],
    ...(filter === null ? [] : ['--seccomp', String(INPUT_FD)]),
    '--',
    ...(shape.limitInside ? ['/prlimit', count] : []),
    ...['/node', ...nodeFlags(spec, ['*'], '/tmp'), '/child.cjs'],
  ];
  const command = [prlimit.file, ...limits, ...(shape.ownUser ? [count] : []), bwrap, ...args];
  const [file = '', ...rest] = shape.ownTmp ? inOuterNamespace(programs, shape, spec, command) : command;
  return {
    file,
    args: rest,
    cwd: '/',
    uid: shape.ownUser && !shape.ownTmp ? spec.uid : null,
    egress: spec.egressSocket === undefined ? null : EGRESS,
    tmp: '/tmp',
    reads: (spec.reads ?? []).map(({ to }) => to),
    ...(filter === null ? {} : { input: filter }),
  };
};

/** Mounts with the rights of the server or of a user namespace, then switches to the jail's own user. */
const inOuterNamespace = (
  { outer }: Programs,
  shape: Shape,
  spec: JailSpec,
  command: readonly string[],
): readonly string[] => {
  if (outer === null) return command;
  const { shell, unshare, setpriv } = outer;
  const { uid } = spec;
  return [
    ...[unshare, '--mount', '--propagation', 'private'],
    ...(shape.isRoot ? [] : ['--user', '--map-root-user']),
    ...[shell, '-c', TMP_SCRIPT, 'tmp', spec.privateDir, tmpOptions(spec.tmpMb), ...foldersFor(shape, spec), '--'],
    ...(shape.ownUser && uid !== null ? [setpriv, `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'] : []),
    ...command,
  ];
};
