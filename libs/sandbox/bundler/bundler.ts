import { DomainError } from '#libs/kernel/domain-error.js';
import { MB } from '../protocol/protocol.js';
import { MAX_PACKAGES, type BuildReply, type MountedPackages, type Problem } from './build-message.js';
import { componentFilesOf, type BundleInput, type ComponentFiles } from './component-files.js';
import { CREATED } from './created-require.js';
import { componentInput, PACKAGE, patternRefused, shimInput } from './compile.js';
import { SHIM_NAMES } from './imports.js';
import { type PackageLock } from '#libs/component-model/package-lock.js';
import { BESIDE } from '../protocol/packages.js';
import { placeOf } from './package-rules.js';
import { type InstalledPackages, type PackageSource } from './packages.js';

export interface BuildLimits {
  /** Time limit of one build. */
  readonly timeoutMs: number;
  /** Size limit of one bundle. */
  readonly bundleBytes: number;
  /** Heap limit of the build process. Buffers, WebAssembly and a second program come on top (node-flags.ts). */
  readonly memoryMb: number;
}

export const DEFAULT_BUILD_LIMITS: BuildLimits = { timeoutMs: 10_000, bundleBytes: 32 * MB, memoryMb: 512 };

/** Result of one pass. */
export type PassReply = BuildReply | { readonly kind: 'timeout' };

/**
 * Lets esbuild read the files once. Without packages, the answer `wanted` names the imported packages; with packages, it
 * names those that packages import without declaring them. The answer is untrusted.
 */
export type BuildPass = (files: ComponentFiles, packages: MountedPackages | null) => Promise<PassReply>;

export interface BundleOptions {
  readonly packages: PackageSource;
  readonly limits: BuildLimits;
  readonly workspaceId: string;
  /** Lock whose packages are reused. */
  readonly lock?: PackageLock | undefined;
}

/** Packages of a bundle. */
export interface BundledPackages {
  /** The caller releases it. */
  readonly installed: InstalledPackages;
  /** Places of packages that stay beside the bundle, each of the lock. */
  readonly externals: readonly string[];
  /** Place of a package with machine code that the bundle needs, or null. */
  readonly native: string | null;
  /** Time that the installation took. */
  readonly ms: number;
}

export interface Built {
  readonly bundle: string;
  /** The first assignments to constants in the component's files, which throw when they run. */
  readonly assignments: readonly Problem[];
  /** Null for a component that imports no package. */
  readonly packages: BundledPackages | null;
}

type BundleReply = Extract<BuildReply, { kind: 'bundle' }>;

/** Rounds in which packages import packages that they do not declare. */
const MAX_ROUNDS = 5;

/**
 * Bundles a component and all its imports into one CommonJS file. Rejects with DomainError component.invalid (naming
 * file, line and problem, or the exceeded limit) or component.package_unavailable.
 */
export const bundleComponent = async (pass: BuildPass, input: BundleInput, options: BundleOptions): Promise<Built> => {
  const { packages, limits, workspaceId } = options;
  const files = componentFilesOf(input);
  const first = resultOf(await pass(files, null), limits);
  if ('kind' in first) {
    checkInputs(first, files, null);
    return { bundle: first.bundle.toString('utf8'), assignments: first.assignments, packages: null };
  }
  let { wanted } = first;
  let { lock } = options;
  let ms = 0;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const startedAt = performance.now();
    const installed = await packages.install({ specifiers: wanted, workspaceId, lock });
    ms += performance.now() - startedAt;
    try {
      const { folder, lock: installedLock } = installed;
      const next = resultOf(await pass(files, { folder, specifiers: installedLock.specifiers }), limits);
      if ('kind' in next) {
        checkInputs(next, files, installedLock);
        const { externals, native } = next;
        const bundled = { installed, externals, native, ms: Math.round(ms) };
        return { bundle: next.bundle.toString('utf8'), assignments: next.assignments, packages: bundled };
      }
      wanted = [...new Set([...wanted, ...next.wanted])].sort();
      if (wanted.length > MAX_PACKAGES) throw tooManyPackages(wanted.length);
      lock = installedLock;
    } catch (error) {
      await installed.release();
      throw error;
    }
    await installed.release();
  }
  throw new DomainError(
    'component.package_unavailable',
    `the npm packages of the component import packages that they do not declare, in more than ${MAX_ROUNDS} levels: import ${wanted.map((name) => `"${name}"`).join(', ')} in the component`,
    { packages: wanted },
  );
};

/** Bundle, or the packages that it needs. */
const resultOf = (
  reply: PassReply,
  { timeoutMs, bundleBytes, memoryMb }: BuildLimits,
): BundleReply | { readonly wanted: readonly string[] } => {
  switch (reply.kind) {
    case 'bundle':
      if (reply.bundle.length > bundleBytes) throw tooLarge(reply.bundle.length, bundleBytes);
      return reply;
    case 'wanted':
      return { wanted: reply.packages };
    case 'invalid':
      throw cannotBeCompiled(reply.problems, reply.count);
    case 'refused':
      throw new DomainError('component.invalid', reply.message, {
        ...(reply.file === null ? {} : { file: reply.file }),
        ...(reply.missing === null ? {} : { missing: reply.missing }),
      });
    case 'too_large':
      throw tooLarge(reply.bytes, bundleBytes);
    case 'too_many_packages':
      throw tooManyPackages(reply.count);
    case 'timeout':
      throw overLimit(
        'Timeout',
        `compiling the code took longer than the limit of ${timeoutMs} ms: make it smaller, nest its expressions less deeply, or raise SLUICE_BUILD_TIMEOUT_S`,
      );
    case 'engine_ended':
      throw overLimit(
        'OutOfMemory',
        `compiling the code needed more memory than the limit of ${memoryMb} MB: make it smaller, or nest its expressions less deeply`,
      );
    case 'loaded':
      throw broken();
  }
};

const tooManyPackages = (count: number): DomainError =>
  overLimit(
    'TooManyPackages',
    `the component imports ${count} npm packages, at most ${MAX_PACKAGES} are allowed: import fewer`,
  );

const tooLarge = (bytes: number, limit: number): DomainError =>
  overLimit('OutputTooLarge', `the bundle has ${bytes} bytes, at most ${limit} are allowed: import less`);

const broken = (): DomainError =>
  overLimit('ProcessExited', 'the code cannot be compiled: the build process broke its protocol');

const overLimit = (name: string, message: string): DomainError =>
  new DomainError('component.invalid', message, { name });

const cannotBeCompiled = (problems: readonly Problem[], count: number): DomainError => {
  const texts = problems.map(({ text, file, line, column }) =>
    file === null ? text : `${file}:${line}:${column}: ${text}`,
  );
  const more = count > problems.length ? ` (and ${count - problems.length} more)` : '';
  const [first] = problems;
  return new DomainError('component.invalid', `the code cannot be compiled: ${texts.join('; ')}${more}`, {
    name: 'SyntaxError',
    ...(first && first.file !== null ? { file: first.file, line: first.line, column: first.column } : {}),
  });
};

/** Refuses a bundle with anything but the component's files, the shims and the packages of the lock. */
const checkInputs = (
  { inputs, externals, native }: BundleReply,
  { texts }: ComponentFiles,
  lock: PackageLock | null,
): void => {
  const own = new Set([
    ...[...texts.keys()].map(componentInput),
    ...SHIM_NAMES.map(shimInput),
    `${CREATED}:${CREATED}`,
  ]);
  const places = new Set(lock?.packages.map(({ place }) => place));
  const isPlace = (place: string | undefined): boolean => place !== undefined && places.has(place);
  const beside = new Set(externals);
  const isKnown = (input: string): boolean => {
    if (own.has(input)) return true;
    const [, namespace, file = ''] = /^([\w-]+):(.*)$/s.exec(input) ?? [];
    const place = placeOf(file);
    if (namespace === PACKAGE) return isPlace(place);
    return (namespace === BESIDE || namespace === `${BESIDE}-es`) && place !== undefined && beside.has(place);
  };
  if (!externals.every(isPlace) || (native !== null && !isPlace(native))) throw broken();
  if (!inputs.every(isKnown)) throw new DomainError('component.invalid', patternRefused('an import of the component'));
};
