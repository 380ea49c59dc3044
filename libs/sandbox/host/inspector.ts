import { readFile } from 'node:fs/promises';
import { type Clock, systemClock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { AskedProcess } from './asked-process.js';
import { type BuildLimits, type BundledPackages } from '../bundler/bundler.js';
import { type BundleInput } from '../bundler/component-files.js';
import { type Problem } from '../bundler/build-message.js';
import { type PackageSource } from '../bundler/packages.js';
import { PACKAGES } from '../protocol/packages.js';
import { BuildJail } from '../bundler/build-jail.js';
import { type ComponentPackages, type PackageLock } from '#libs/component-model/package-lock.js';
import { parseChildMessage } from '../protocol/child-message.js';
import { WARNING_LIMITS } from '#libs/component-model/warning-limits.js';
import { type Warning } from '#libs/kernel/warning.js';
import { type ComponentMetadata } from '#libs/component-model/component-metadata.js';
import { DEFAULT_JAIL_LIMITS, JailLauncher } from './jail-launcher.js';
import { type JailLevel } from '../jail/jail-level.js';
import { parseMetadata } from '../protocol/metadata-validation.js';
import { causeOf } from './process-end.js';
import { type ChildSettings, type DescribedAs } from '../protocol/protocol.js';
import { encodeRecord, type RawRecord } from '#libs/framing/records.js';
import { Standby } from './standby.js';

export interface InspectorOptions {
  readonly level: JailLevel;
  readonly memoryMb?: number;
  /** Time limit for evaluating the module. */
  readonly timeoutMs?: number;
  readonly build?: Partial<BuildLimits>;
  readonly clock?: Clock;
  /** Source of npm packages. Default: no packages. */
  readonly packages?: PackageSource;
  /** False for an inspector of few components, which starts no process ahead of the next one. */
  readonly startsAhead?: boolean;
}

export interface InspectRequest extends Omit<BundleInput, 'code'> {
  /** Default: a workspace without packages of its own. */
  readonly workspaceId?: string;
  /** Lock whose packages are reused. */
  readonly lock?: PackageLock | undefined;
  /** Default: `component`. */
  readonly as?: DescribedAs;
}

export interface Inspected {
  readonly bundle: string;
  readonly metadata: ComponentMetadata;
  /** Absent for a component that imports no package. */
  readonly packages?: ComponentPackages;
}

export interface Inspector {
  /**
   * Evaluates a bundle in a jail without network and returns its metadata. Rejects with DomainError component.invalid,
   * details `{name, prop?}`, when the code throws, hangs, exits, exports no component, or breaks a rule.
   */
  inspectComponent(bundleFile: string): Promise<ComponentMetadata>;
  /** Bundles code and inspects the bundle. Also rejects with DomainError component.package_unavailable. */
  inspect(code: string, options?: InspectRequest): Promise<Inspected>;
  /** Removes temporary files. Idempotent. */
  close(): Promise<void>;
}

const SETTINGS: Omit<ChildSettings, 'tmp' | 'tmpMb' | 'packages' | 'inspect'> = {
  env: { PD_COMPONENT: '' },
  hasBundle: true,
  props: {},
  db: {},
  concurrency: 1,
  egress: null,
  requestClient: null,
};

/** Lifetime of an unused process that was started ahead. */
const IDLE_MS = 60_000;

export const createInspector = (options: InspectorOptions): Inspector => {
  const timeoutMs = options.timeoutMs ?? 10_000;
  const memoryMb = options.memoryMb ?? DEFAULT_JAIL_LIMITS.memoryMb;
  const clock = options.clock ?? systemClock;
  const house = new JailLauncher(options.level, { ...DEFAULT_JAIL_LIMITS, memoryMb });
  const standby = new Standby(() => AskedProcess.start(house), IDLE_MS);
  const { level, build, packages, startsAhead = true } = options;
  const builds = new BuildJail({
    level,
    startsAhead,
    ...(build ? { limits: build } : {}),
    ...(packages ? { packages } : {}),
  });
  const inPackages = (packages: BundledPackages): Promise<AskedProcess> =>
    AskedProcess.start(house, {
      reads: [{ from: packages.installed.folder, to: PACKAGES }],
      loadsMachineCode: packages.native !== null,
    });
  const describe = async (
    bundle: string,
    packages: BundledPackages | null,
    as: DescribedAs,
  ): Promise<ComponentMetadata> => {
    const child = packages?.externals.length ? await inPackages(packages) : await standby.acquire();
    const metadata = await evaluate(child, bundle, as, timeoutMs, memoryMb).finally(
      () => startsAhead && standby.prepare(),
    );
    return { ...metadata, version: metadata.version.replaceAll('{{ts}}', String(clock.now())) };
  };
  return {
    inspectComponent: async (bundleFile) => describe(await readFile(bundleFile, 'utf8'), null, 'component'),
    inspect: async (code, { workspaceId = '', lock, as = 'component', ...input } = {}) => {
      const { bundle, assignments, packages: used } = await builds.bundle({ ...input, code }, { workspaceId, lock });
      try {
        const described = await describe(bundle, used, as);
        const metadata = { ...described, warnings: [...assignments.map(warningOf), ...described.warnings] };
        return { bundle, metadata, ...(used ? { packages: packagesOf(used) } : {}) };
      } finally {
        await used?.installed.release();
      }
    },
    async close() {
      await Promise.all([builds.close(), standby.close()]);
      await house.close();
    },
  };
};

const packagesOf = ({ installed, externals, native, ms }: BundledPackages): ComponentPackages => {
  const { lock, warnings, bytes, cached } = installed;
  return { lock, externals, hasMachineCode: native !== null, warnings, bytes, cached, ms };
};

/** Warning of an assignment to a constant (docs/reference/component-model.md#assigned-constants). */
const warningOf = ({ text, file, line, column }: Problem): Warning => ({
  code: 'assigned_constant',
  message: `${text}: the line throws a TypeError when it runs`.slice(0, WARNING_LIMITS.message),
  path: `${file ?? ''}:${line}:${column}`.slice(-WARNING_LIMITS.path),
});

const invalid = (message: string, details: Readonly<Record<string, unknown>> = { name: 'UserError' }): DomainError =>
  new DomainError('component.invalid', message, details);

const evaluate = async (
  child: AskedProcess,
  bundle: string,
  inspect: DescribedAs,
  timeoutMs: number,
  memoryMb: number,
): Promise<ComponentMetadata> => {
  const { tmp, reads } = child.plan;
  const settings: ChildSettings = {
    ...SETTINGS,
    inspect,
    tmp,
    tmpMb: DEFAULT_JAIL_LIMITS.tmpMb,
    packages: reads[0] ?? null,
  };
  const order = encodeRecord(0, { t: 'init', settings }, [bundle]);
  const outcome = await child.ask(order, timeoutMs, (record) => readAnswer(record, tmp));
  child.kill();
  switch (outcome.kind) {
    case 'answer':
      if (outcome.answer instanceof DomainError) throw outcome.answer;
      return outcome.answer;
    case 'breach':
      throw invalid(`the component broke the protocol of its process while it was loaded: ${outcome.breach.message}`);
    case 'timeout':
      throw invalid(
        `evaluating the component took longer than the limit of ${timeoutMs} ms: do nothing slow at the top of the module`,
        { name: 'Timeout' },
      );
    case 'ended': {
      const { code, text } = causeOf(outcome.end, { memoryMb });
      throw invalid(`the component could not be evaluated: ${text}`, { name: code });
    }
  }
};

/** `tmp` is the folder of the process. At the level `process` it is a path of the host. */
const readAnswer = (record: RawRecord, tmp: string): ComponentMetadata | DomainError => {
  const message = parseChildMessage(record);
  switch (message[0]) {
    case 'meta':
      return parseMetadata(record.raw);
    case 'invalid':
      return invalid(message[1], { name: 'UserError', ...(message[2] === null ? {} : { prop: message[2] }) });
    case 'loadfail': {
      const { name, message: text, stack, place } = message[1];
      const where = place ? ` (${place.file}:${place.line}:${place.column})` : '';
      const said = `the component cannot be loaded: ${name}: ${text}${where}`;
      return invalid(said.replaceAll(tmp, '/tmp'), {
        name,
        message: text.replaceAll(tmp, '/tmp'),
        ...place,
        stack: stack.replaceAll(tmp, '/tmp'),
      });
    }
    case 'ready':
    case 's':
    case 'g':
    case 'e':
    case 'l':
    case 'b':
    case 'v':
    case 'r':
    case 'd':
    case 'p':
    case 'x':
    case 'q':
    case 'o':
    case 'f':
    case 'm':
    case 't':
    case 'w':
      return invalid('the component broke the protocol of its process while it was loaded');
  }
};
