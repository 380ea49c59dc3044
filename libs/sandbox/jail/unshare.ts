import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { INPUT_FD } from '../protocol/protocol.js';
import { findProgram, programFiles, type ProgramFiles } from './host-programs.js';
import { type JailSpec, type JailVariant, type SpawnPlan } from './jail-level.js';
import { dataLimitBytes, MAX_PROCESSES, nodeFlags, tmpOptions } from './node-flags.js';
import { seccompFilter } from './seccomp.js';

const run = promisify(execFile);

const DEVICES = ['null', 'zero', 'random', 'urandom'];
const EGRESS = '/egress.sock';
const FILTER = '/filter';

/**
 * Builds an empty root on a private tmpfs and enters it without any capability. Arguments: root, options of /tmp,
 * "filter" to store the input of INPUT_FD, then `source target` pairs, `--`, the command.
 * A chroot suffices here, because the means to leave it (capabilities, a new user namespace) are gone by then.
 */
const SCRIPT = `set -e
umask 022
root=$1; options=$2; filter=$3; shift 3
mount -t tmpfs -o size=16m,mode=755,nosuid,nodev tmpfs "$root"
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then mkdir -p "$root$2"; else mkdir -p "$root\${2%/*}"; : > "$root$2"; fi
  mount --bind "$1" "$root$2"
  case "$2" in /dev/*) ;; *) mount -o remount,bind,ro,nosuid,nodev "$root$2" ;; esac
  shift 2
done
shift
if [ "$filter" ]; then cat <&${INPUT_FD} > "$root${FILTER}"; exec ${INPUT_FD}<&-; fi
mkdir "$root/tmp"
mount -t tmpfs -o "$options" tmpfs "$root/tmp"
mount -o remount,bind,ro,nosuid,nodev "$root"
cd "$root"
exec chroot . "$@"
`;

interface Programs {
  readonly unshare: string;
  readonly shell: string;
  readonly prlimit: ProgramFiles;
  readonly setpriv: ProgramFiles;
  readonly node: ProgramFiles;
}

/** Jails built with util-linux only: new namespaces, a minimal root, no capability. Rejects with MissingProgram. */
export const unshareVariants = async (isRoot: boolean): Promise<readonly JailVariant[]> => {
  const programs: Programs = {
    unshare: await findProgram('unshare'),
    shell: await findProgram('sh'),
    prlimit: await programFiles(await findProgram('prlimit')),
    setpriv: await programFiles(await findProgram('setpriv')),
    node: await programFiles(process.execPath),
  };
  const filter = (await canLoadFilters(programs.setpriv.file)) ? seccompFilter() : null;
  const filters = filter === null ? [null] : [filter, null];
  return filters.flatMap((one) =>
    // Before Linux 5.14, the limit also counts processes of the server's user outside the jail.
    (isRoot ? [true] : [true, false]).map((counted): JailVariant => ({
      label: `${isRoot ? 'as root' : 'user namespace'} filter=${String(one !== null)} counted=${String(counted)}`,
      carries: [...(one === null ? [] : (['syscalls'] as const)), ...(counted ? (['processes'] as const) : [])],
      plan: (spec) => plan(programs, { isRoot, counted, filter: one }, spec),
    })),
  );
};

/** Checks whether setpriv can load filters, which it can since util-linux 2.40. */
const canLoadFilters = (setpriv: string): Promise<boolean> =>
  run(setpriv, ['--help']).then(
    ({ stdout }) => stdout.includes('--seccomp-filter'),
    () => false,
  );

interface Shape {
  readonly isRoot: boolean;
  /** True when the number of processes is limited. */
  readonly counted: boolean;
  readonly filter: Buffer | null;
}

const plan = (programs: Programs, { isRoot, counted, filter }: Shape, spec: JailSpec): SpawnPlan => {
  const { node, setpriv, prlimit } = programs;
  const libraries = new Set([...node.libraries, ...setpriv.libraries, ...prlimit.libraries]);
  const mounts = [
    ...[...libraries].flatMap((library) => [library, library]),
    ...[node.file, '/node', setpriv.file, '/setpriv', prlimit.file, '/prlimit', spec.childFile, '/child.cjs'],
    ...DEVICES.flatMap((device) => [`/dev/${device}`, `/dev/${device}`]),
    ...(spec.egressSocket === undefined ? [] : [spec.egressSocket, EGRESS]),
    ...(spec.reads ?? []).flatMap(({ from, to }) => [from, to]),
  ];
  const user = isRoot && spec.uid !== null ? [`--reuid=${spec.uid}`, `--regid=${spec.uid}`, '--clear-groups'] : [];
  const command = [
    ...['/prlimit', `--data=${dataLimitBytes(spec.memoryMb)}`, `--fsize=${spec.tmpMb * 1024 * 1024}`, '--core=0'],
    ...(counted ? [`--nproc=${MAX_PROCESSES}`] : []),
    ...['/setpriv', '--pdeathsig', 'KILL', ...user, '--inh-caps=-all', '--bounding-set=-all', '--no-new-privs'],
    ...(filter === null ? [] : ['--seccomp-filter', FILTER]),
    ...['/node', ...nodeFlags(spec, ['*'], '/tmp'), '/child.cjs'],
  ];
  return {
    // Ends the jail with the server, even when the server is killed.
    file: setpriv.file,
    args: [
      ...['--pdeathsig', 'KILL', programs.unshare],
      ...['--mount', '--pid', '--net', '--ipc', '--uts', '--fork', '--kill-child', '--propagation', 'private'],
      ...(isRoot ? [] : ['--user', '--map-root-user']),
      ...[
        programs.shell,
        '-c',
        SCRIPT,
        'jail',
        spec.privateDir,
        tmpOptions(spec.tmpMb),
        filter === null ? '' : 'filter',
        ...mounts,
        '--',
        ...command,
      ],
    ],
    cwd: '/',
    // Mounting needs the server's rights. setpriv drops them afterwards.
    uid: null,
    egress: spec.egressSocket === undefined ? null : EGRESS,
    tmp: '/tmp',
    reads: (spec.reads ?? []).map(({ to }) => to),
    ...(filter === null ? {} : { input: filter }),
  };
};
