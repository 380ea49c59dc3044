import { type Entry } from './entry.js';
import { type Protection } from './promises.js';

/** How strongly the process of a component is shut in (docs/adr on the sandbox). */
export interface JailSpec {
  /** The child's code; readable by every user. */
  readonly childFile: string;
  /** Of this process alone. Only the level `process` lets it be seen, as the one place to write to. */
  readonly privateDir: string;
  /** Further files and folders of the host that it may read, and where it sees them; the level `process` moves none. */
  readonly reads?: readonly { readonly from: string; readonly to: string }[];
  /** Whether it may start programs that it can read. Default: no. */
  readonly startsPrograms?: boolean;
  /** Host path of the egress guard's socket; absent for no network. */
  readonly egressSocket?: string;
  readonly memoryMb: number;
  readonly tmpMb: number;
  /** A user of its own for this process, when the server is root. */
  readonly uid: number | null;
}

export interface SpawnPlan {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** To be switched to before the program starts. */
  readonly uid: number | null;
  /** The egress socket as the child sees it. */
  readonly egress: string | null;
  /** The folder that the child may write to, as it sees it. */
  readonly tmp: string;
  /** What the spec's `reads` are called in the jail, in the same order. */
  readonly reads: readonly string[];
  /** Sent to INPUT_FD while the jail is built, for `file` to read; the program must not find it open. */
  readonly input?: Buffer;
}

export type JailName = 'jail (bwrap)' | 'jail (unshare)' | 'process';

export interface JailLevel {
  readonly name: JailName;
  /** Printed at start: what this level does not protect from. */
  readonly warning: string | null;
  /** Why each stronger level cannot be had here, for the log. */
  readonly unavailable: readonly string[];
  /** What this host let it have of that which the level promises only where the host allows it (promises.ts). */
  readonly carries?: ReadonlySet<Protection>;
  readonly entry?: Entry;
  /** Components run within a vm2 realm besides, inside the jailed process. */
  readonly vm2?: boolean;
  plan(spec: JailSpec): SpawnPlan;
}

/** One way to set a level up; the first that runs Node here is taken. */
export interface JailVariant {
  readonly label: string;
  readonly carries: readonly Protection[];
  plan(spec: JailSpec): SpawnPlan;
}

/** A host program that a level needs is not there. `install` names the package. */
export class MissingProgram extends Error {
  constructor(program: string, install: string) {
    super(`${program} is not installed (package ${install})`);
    this.name = 'MissingProgram';
  }
}

/** As people read it. */
export const levelLabel = ({ name, vm2 }: Pick<JailLevel, 'name' | 'vm2'>): string =>
  vm2 === true ? `${name} + vm2` : name;
