import { DomainError } from '../../kernel/domain-error.js';
import { MB } from '../protocol/protocol.js';
import { MAX_PACKAGES, type BuildReply, type Problem } from './build-message.js';
import { componentFilesOf, type BundleInput, type ComponentFiles } from './component-files.js';
import { componentInput, packageInput, patternRefused, shimInput } from './compile.js';
import { SHIM_NAMES } from './imports.js';
import { type PackageResolver } from './packages.js';

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
 * Lets esbuild read the files once. Without a folder of packages, the answer `wanted` names the imported packages. The
 * answer is untrusted.
 */
export type BuildPass = (files: ComponentFiles, packagesIn: string | null) => Promise<PassReply>;

interface BundleOptions {
  readonly packages: PackageResolver;
  readonly limits: BuildLimits;
}

/**
 * Bundles a component and all its imports into one CommonJS file. Rejects with DomainError component.invalid (naming
 * file, line and problem, or the exceeded limit) or component.package_unavailable.
 */
export const bundleComponent = async (
  pass: BuildPass,
  input: BundleInput,
  { packages, limits }: BundleOptions,
): Promise<string> => {
  const files = componentFilesOf(input);
  const first = resultOf(await pass(files, null), files, limits, false);
  if (typeof first === 'string') return first;
  const folder = await packages.resolve(first);
  const second = resultOf(await pass(files, folder), files, limits, true);
  if (typeof second === 'string') return second;
  throw broken();
};

/** Bundle, or the packages that it needs. */
const resultOf = (
  reply: PassReply,
  files: ComponentFiles,
  { timeoutMs, bundleBytes, memoryMb }: BuildLimits,
  hasPackages: boolean,
): string | readonly string[] => {
  switch (reply.kind) {
    case 'bundle':
      if (reply.bundle.length > bundleBytes) throw tooLarge(reply.bundle.length, bundleBytes);
      checkInputs(reply.inputs, files, hasPackages);
      return reply.bundle.toString('utf8');
    case 'wanted':
      return reply.packages;
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
      throw overLimit(
        'TooManyPackages',
        `the component imports ${reply.count} npm packages, at most ${MAX_PACKAGES} are allowed: import fewer`,
      );
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

/** Refuses a bundle with anything but the component's files, the shims and the mounted packages. */
const checkInputs = (inputs: readonly string[], { texts }: ComponentFiles, hasPackages: boolean): void => {
  const own = new Set([...[...texts.keys()].map(componentInput), ...SHIM_NAMES.map(shimInput)]);
  const isKnown = (input: string): boolean => own.has(input) || (hasPackages && input.startsWith(packageInput('')));
  if (!inputs.every(isKnown)) throw new DomainError('component.invalid', patternRefused('an import of the component'));
};
