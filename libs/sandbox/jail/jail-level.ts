import { type Entry } from './entry.js';
import { type Protection } from './promises.js';

/** Requirements of one jailed process (docs/adr/0004). */
export interface JailSpec {
  /** Code of the child, readable by every user. */
  readonly childFile: string;
  /** Private folder of this process. Only at the level `process` can it be seen, as the only writable folder. */
  readonly privateDir: string;
  /** Further readable files and folders of the host, and their paths in the jail. The level `process` ignores `to`. */
  readonly reads?: readonly { readonly from: string; readonly to: string }[];
  /** True when the process may start programs that it can read. Default: false. */
  readonly startsPrograms?: boolean;
  /** True when the process may load native addons of Node. The level `process` ignores it. Default: false. */
  readonly loadsMachineCode?: boolean;
  /** Host path of the egress guard's socket. Absent for no network. */
  readonly egressSocket?: string;
  readonly memoryMb: number;
  readonly tmpMb: number;
  /** User id of this process alone. Null unless the server is root. */
  readonly uid: number | null;
}

export interface SpawnPlan {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** User id to switch to before the program starts. */
  readonly uid: number | null;
  /** Path of the egress socket, as the child sees it. */
  readonly egress: string | null;
  /** Writable folder, as the child sees it. */
  readonly tmp: string;
  /** Paths of the spec's `reads` in the jail, in the same order. */
  readonly reads: readonly string[];
  /** Bytes that `file` reads from INPUT_FD while it builds the jail. The program must not inherit the descriptor. */
  readonly input?: Buffer;
}

export type JailName = 'jail (bwrap)' | 'jail (unshare)' | 'process';

export interface JailLevel {
  readonly name: JailName;
  /** Warning at start about missing protection at this level. */
  readonly warning: string | null;
  /** Reasons why stronger levels are unavailable here, for the log. */
  readonly unavailable: readonly string[];
  /** Host-dependent protections of the level that this host supports (promises.ts). */
  readonly carries?: ReadonlySet<Protection>;
  readonly entry?: Entry;
  plan(spec: JailSpec): SpawnPlan;
}

/** One way to set up a level. The first variant that runs Node here is used. */
export interface JailVariant {
  readonly label: string;
  readonly carries: readonly Protection[];
  plan(spec: JailSpec): SpawnPlan;
}

/** Thrown when a host program that a level needs is missing. `install` names the package. */
export class MissingProgram extends Error {
  constructor(program: string, install: string) {
    super(`${program} is not installed (package ${install})`);
    this.name = 'MissingProgram';
  }
}
