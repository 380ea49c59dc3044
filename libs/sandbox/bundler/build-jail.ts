import { DomainError } from '#libs/kernel/domain-error.js';
import { AskedProcess, type Outcome } from '../host/asked-process.js';
import { DEFAULT_JAIL_LIMITS, JailLauncher } from '../host/jail-launcher.js';
import { type JailLevel, type JailSpec } from '../jail/jail-level.js';
import { PACKAGES } from '../protocol/packages.js';
import { MB } from '../protocol/protocol.js';
import { HEADER_BYTES } from '#libs/framing/records.js';
import { Standby } from '../host/standby.js';
import { encodeBuild, encodeOrder, parseReply, type BuildReply, type MountedPackages } from './build-message.js';
import {
  bundleComponent,
  DEFAULT_BUILD_LIMITS,
  type Built,
  type BuildLimits,
  type BuildPass,
  type BundleOptions,
  type PassReply,
} from './bundler.js';
import { type BundleInput, type ComponentFiles } from './component-files.js';
import { engineFor } from './engine-files.js';
import { noPackages, type PackageSource } from './packages.js';
import { checkRunnable } from './runnable-packages.js';

/** Lifetime of an unused process that was started ahead. */
const IDLE_MS = 60_000;
const TMP_MB = 16;
/** Size limit of the head of an answer. */
const HEAD_BYTES = 2 * MB;

export interface BuildJailOptions {
  readonly level: JailLevel;
  readonly limits?: Partial<BuildLimits>;
  readonly packages?: PackageSource;
  /** Default: true. */
  readonly startsAhead?: boolean;
}

/** Bundles each component in its own jailed process, which contains only the component's files and esbuild. */
export class BuildJail {
  private readonly level: JailLevel;
  private readonly limits: BuildLimits;
  private readonly packages: PackageSource;
  private readonly startsAhead: boolean;
  private readonly house: JailLauncher;
  private readonly standby: Standby<AskedProcess>;
  /** Processes with packages, which are not started ahead. */
  private readonly others = new Set<AskedProcess>();

  constructor({ level, limits, packages, startsAhead = true }: BuildJailOptions) {
    this.startsAhead = startsAhead;
    this.level = level;
    this.limits = { ...DEFAULT_BUILD_LIMITS, ...limits };
    this.packages = packages ?? noPackages;
    this.house = new JailLauncher(
      level,
      { ...DEFAULT_JAIL_LIMITS, memoryMb: this.limits.memoryMb, tmpMb: TMP_MB },
      'build',
    );
    this.standby = new Standby(() => this.start([]), IDLE_MS);
  }

  /** Bundles a component, as specified for bundleComponent. Refuses packages that cannot run at this level. */
  async bundle(input: BundleInput, options: Pick<BundleOptions, 'workspaceId' | 'lock'>): Promise<Built> {
    const { packages, limits, level } = this;
    const built = await bundleComponent(this.pass, input, { ...options, packages, limits });
    try {
      checkRunnable(level, built.packages);
    } catch (error) {
      await built.packages?.installed.release();
      throw error;
    }
    return built;
  }

  /** Ends every build and removes temporary files. Idempotent. */
  async close(): Promise<void> {
    await this.standby.close();
    for (const other of this.others) other.kill();
    await Promise.all([...this.others].map(({ ended }) => ended));
    await this.house.close();
  }

  private readonly pass: BuildPass = async (files, packages) => {
    if (packages === null)
      return this.build(await this.standby.acquire(), files, null).finally(
        () => this.startsAhead && this.standby.prepare(),
      );
    const started = await this.start([{ from: packages.folder, to: PACKAGES }]);
    this.others.add(started);
    void started.ended.then(() => this.others.delete(started));
    const folder = started.plan.reads[1] ?? '';
    return this.build(started, files, { ...packages, folder });
  };

  /** Starts a process and loads esbuild in it. Rejects when that fails, which is a fault of the installation. */
  private async start(further: NonNullable<JailSpec['reads']>): Promise<AskedProcess> {
    const engine = engineFor(this.level.name !== 'process');
    const file = await this.house.readable(engine.file);
    const extras = { reads: [{ from: file, to: '/esbuild' }, ...further], startsPrograms: engine.kind === 'native' };
    const started = await AskedProcess.start(this.house, extras, HEADER_BYTES + HEAD_BYTES + this.limits.bundleBytes);
    const { tmp, reads } = started.plan;
    const order = encodeOrder({ t: 'load', engine: engine.kind, file: reads[0] ?? '', tmp });
    const outcome = await started.ask(order, this.house.limits.startTimeoutMs, parseReply);
    if (outcome.kind === 'answer' && outcome.answer.kind === 'loaded') return started;
    started.kill();
    throw new Error(`the build process did not load esbuild (${engine.kind}): ${said(outcome)}`);
  }

  private async build(
    child: AskedProcess,
    files: ComponentFiles,
    packages: MountedPackages | null,
  ): Promise<PassReply> {
    const { timeoutMs, bundleBytes } = this.limits;
    const order = encodeBuild(files, { packages, bundleBytes, refusePatterns: true });
    const outcome = await child.ask(order, timeoutMs, parseReply);
    child.kill();
    switch (outcome.kind) {
      case 'answer':
        return outcome.answer;
      case 'timeout':
        return { kind: 'timeout' };
      case 'ended':
        return { kind: 'engine_ended' };
      case 'breach':
        throw new DomainError('component.invalid', `the code cannot be compiled: ${outcome.breach.message}`, {
          name: 'ProcessExited',
        });
    }
  }
}

/** Describes an outcome for the server's log. */
const said = (outcome: Outcome<BuildReply>): string => {
  switch (outcome.kind) {
    case 'answer':
      return `it answered "${outcome.answer.kind}"`;
    case 'breach':
      return outcome.breach.message;
    case 'timeout':
      return 'it took too long';
    case 'ended':
      return `it ended with exit code ${outcome.end.exitCode ?? 'none'}, signal ${outcome.end.signal ?? 'none'}: ${outcome.end.stderr.trim().slice(0, 2_000)}`;
  }
};
