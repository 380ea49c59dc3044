import { findProgram, programFiles, type ProgramFiles } from './host-programs.js';
import { type JailSpec, type JailVariant, type SpawnPlan } from './jail-level.js';
import { dataLimitBytes, MAX_PROCESSES, nodeFlags } from './node-flags.js';

const DEVICES = ['null', 'zero', 'random', 'urandom'];
const EGRESS = '/egress.sock';

interface Programs {
  readonly bwrap: string;
  readonly prlimit: ProgramFiles;
  readonly node: ProgramFiles;
}

interface Shape {
  /** Start bwrap as a user of its own. */
  readonly ownUser: boolean;
  /** Count processes per user namespace, inside. */
  readonly limitInside: boolean;
  /** No further user namespaces: less of the kernel within reach. */
  readonly lastNamespace: boolean;
}

/** New namespaces of every kind, an empty file system with what Node needs, no capability. Rejects with MissingProgram. */
export const bwrapVariants = async (isRoot: boolean): Promise<readonly JailVariant[]> => {
  const programs: Programs = {
    bwrap: await findProgram('bwrap'),
    prlimit: await programFiles(await findProgram('prlimit')),
    node: await programFiles(process.execPath),
  };
  const users = isRoot ? [true, false] : [false];
  const shapes = users.flatMap((ownUser) =>
    [true, false].flatMap((lastNamespace) =>
      (ownUser ? [false] : [true, false]).map((limitInside) => ({ ownUser, limitInside, lastNamespace })),
    ),
  );
  return shapes.map((shape) => ({
    label: Object.entries(shape)
      .map(([name, on]) => `${name}=${String(on)}`)
      .join(' '),
    plan: (spec: JailSpec) => plan(programs, shape, spec),
  }));
};

const readOnly = (from: string, to = from): string[] => ['--ro-bind', from, to];

const plan = ({ bwrap, prlimit, node }: Programs, shape: Shape, spec: JailSpec): SpawnPlan => {
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
    ...(spec.egressSocket === undefined ? [] : readOnly(spec.egressSocket, EGRESS)),
    ...['--dir', '/dev', ...DEVICES.flatMap((device) => ['--dev-bind', `/dev/${device}`, `/dev/${device}`])],
    ...['--size', String(spec.tmpMb * 1024 * 1024), '--tmpfs', '/tmp', '--chdir', '/tmp', '--remount-ro', '/', '--'],
    ...(shape.limitInside ? ['/prlimit', count] : []),
    ...['/node', ...nodeFlags(spec.memoryMb, ['*'], '/tmp'), '/child.cjs'],
  ];
  return {
    file: prlimit.file,
    args: [...limits, ...(shape.ownUser ? [count] : []), bwrap, ...args],
    cwd: '/',
    uid: shape.ownUser ? spec.uid : null,
    egress: spec.egressSocket === undefined ? null : EGRESS,
    tmp: '/tmp',
  };
};
