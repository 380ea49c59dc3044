import { findProgram, programFiles, type ProgramFiles } from './host-programs.js';
import { type JailSpec, type JailVariant, type SpawnPlan } from './jail-level.js';
import { dataLimitBytes, MAX_PROCESSES, nodeFlags } from './node-flags.js';

const DEVICES = ['null', 'zero', 'random', 'urandom'];
const EGRESS = '/egress.sock';

/**
 * Builds an empty root below a fresh tmpfs, seen by nobody else, and enters it without any capability. Arguments:
 * root, size of /tmp, socket or "", then `source target` pairs, `--`, the command.
 * A chroot is enough of a wall here: what could leave it (capabilities, a new user namespace) is gone by then.
 */
const SCRIPT = `set -e
root=$1; size=$2; shift 2
mount -t tmpfs -o size=16m,mode=755,nosuid,nodev tmpfs "$root"
while [ "$1" != -- ]; do
  mkdir -p "$root\${2%/*}"; : > "$root$2"
  mount --bind "$1" "$root$2"
  case "$2" in /dev/*) ;; *) mount -o remount,bind,ro,nosuid,nodev "$root$2" ;; esac
  shift 2
done
shift
mkdir "$root/tmp"
mount -t tmpfs -o "size=$size,mode=1777,nosuid,nodev,noexec" tmpfs "$root/tmp"
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

/** util-linux alone: new namespaces, a root with what Node needs, no capability. Rejects with MissingProgram. */
export const unshareVariants = async (isRoot: boolean): Promise<readonly JailVariant[]> => {
  const programs: Programs = {
    unshare: await findProgram('unshare'),
    shell: await findProgram('sh'),
    prlimit: await programFiles(await findProgram('prlimit')),
    setpriv: await programFiles(await findProgram('setpriv')),
    node: await programFiles(process.execPath),
  };
  return [{ label: isRoot ? 'as root' : 'user namespace', plan: (spec) => plan(programs, isRoot, spec) }];
};

const plan = (programs: Programs, isRoot: boolean, spec: JailSpec): SpawnPlan => {
  const { node, setpriv, prlimit } = programs;
  const libraries = new Set([...node.libraries, ...setpriv.libraries, ...prlimit.libraries]);
  const mounts = [
    ...[...libraries].flatMap((library) => [library, library]),
    ...[node.file, '/node', setpriv.file, '/setpriv', prlimit.file, '/prlimit', spec.childFile, '/child.cjs'],
    ...DEVICES.flatMap((device) => [`/dev/${device}`, `/dev/${device}`]),
    ...(spec.egressSocket === undefined ? [] : [spec.egressSocket, EGRESS]),
  ];
  const user = isRoot && spec.uid !== null ? [`--reuid=${spec.uid}`, `--regid=${spec.uid}`, '--clear-groups'] : [];
  const command = [
    ...['/prlimit', `--data=${dataLimitBytes(spec.memoryMb)}`, `--fsize=${spec.tmpMb * 1024 * 1024}`, '--core=0'],
    ...(isRoot ? [`--nproc=${MAX_PROCESSES}`] : []),
    ...['/setpriv', '--pdeathsig', 'KILL', ...user, '--inh-caps=-all', '--bounding-set=-all', '--no-new-privs'],
    ...['/node', ...nodeFlags(spec.memoryMb, ['*'], '/tmp'), '/child.cjs'],
  ];
  return {
    // Ends with the server, also when that is killed; and the jail with it.
    file: setpriv.file,
    args: [
      ...['--pdeathsig', 'KILL', programs.unshare],
      ...['--mount', '--pid', '--net', '--ipc', '--uts', '--fork', '--kill-child', '--propagation', 'private'],
      ...(isRoot ? [] : ['--user', '--map-root-user']),
      ...[programs.shell, '-c', SCRIPT, 'jail', spec.privateDir, `${spec.tmpMb}m`, ...mounts, '--', ...command],
    ],
    cwd: '/',
    // Mounting needs the server's rights; setpriv gives them up.
    uid: null,
    egress: spec.egressSocket === undefined ? null : EGRESS,
    tmp: '/tmp',
  };
};
