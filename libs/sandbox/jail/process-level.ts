import { findProgram, orNull } from './host-programs.js';
import { type JailSpec, type JailVariant, type SpawnPlan } from './jail-level.js';
import { dataLimitBytes, MAX_PROCESSES, nodeFlags } from './node-flags.js';

export const PROCESS_WARNING =
  'Components run in plain child processes: Node permission flags and resource limits, but they share the network and the process table of this machine. Run only code that you trust; or install bubblewrap, allow user namespaces and set SLUICE_ISOLATION=jail.';

/** Child processes with Node's permission flags. With prlimit they have limits, and under root a user of their own. */
export const processVariants = async (isRoot: boolean): Promise<readonly JailVariant[]> => {
  const prlimit = await orNull(findProgram('prlimit'));
  const setpriv = await orNull(findProgram('setpriv'));
  const make = (ownUser: boolean, limited: boolean, tied: boolean): JailVariant => ({
    label: `ownUser=${String(ownUser)} limited=${String(limited)} tied=${String(tied)}`,
    carries: [
      ...(limited ? (['heap'] as const) : []),
      ...(ownUser ? (['server_process'] as const) : []),
      ...(limited && ownUser ? (['processes'] as const) : []),
    ],
    plan: (spec) => plan(spec, ownUser, limited ? prlimit : null, tied ? setpriv : null),
  });
  const users = isRoot ? [true, false] : [false];
  return users.flatMap((ownUser) => [
    ...(prlimit && setpriv ? [make(ownUser, true, true)] : []),
    ...(prlimit ? [make(ownUser, true, false)] : []),
    make(ownUser, false, false),
  ]);
};

const plan = (spec: JailSpec, ownUser: boolean, prlimit: string | null, setpriv: string | null): SpawnPlan => {
  const dir = spec.privateDir;
  const reads = (spec.reads ?? []).map(({ from }) => from);
  const command = [
    ...(prlimit === null
      ? []
      : [
          prlimit,
          `--data=${dataLimitBytes(spec.memoryMb)}`,
          `--fsize=${spec.tmpMb * 1024 * 1024}`,
          '--core=0',
          ...(ownUser ? [`--nproc=${MAX_PROCESSES}`] : []),
        ]),
    // Ends the process with the server, even when the server is killed.
    ...(setpriv === null ? [] : [setpriv, '--pdeathsig', 'KILL', '--no-new-privs']),
    process.execPath,
    ...nodeFlags({ ...spec, loadsMachineCode: false }, [spec.childFile, dir, ...reads], dir),
    spec.childFile,
  ];
  const [file, ...args] = command as [string, ...string[]];
  return { file, args, cwd: dir, uid: ownUser ? spec.uid : null, egress: spec.egressSocket ?? null, tmp: dir, reads };
};
