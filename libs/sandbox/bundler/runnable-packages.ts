import { DomainError } from '../../kernel/domain-error.js';
import { levelLabel, type JailLevel } from '../jail/jail-level.js';
import { type BundledPackages } from './bundler.js';
import { lookupOf } from './package-rules.js';

/**
 * Throws component.package_unavailable for a package that cannot run at this level: machine code without a jail, and
 * any package beside the bundle in a vm2 realm. See docs/reference/component-model.md#packages-beside.
 */
export const checkRunnable = (level: Pick<JailLevel, 'name' | 'vm2'>, packages: BundledPackages | null): void => {
  if (packages === null) return;
  const { externals, native, installed } = packages;
  const named = (place: string): string => {
    const found = installed.lock.packages.find((one) => one.place === place);
    return found === undefined ? lookupOf(place).name : `${found.name}@${found.version}`;
  };
  if (native !== null && level.name === 'process')
    throw unavailable(
      [named(native)],
      `the npm package ${named(native)} contains machine code, which runs in a jail only, and this server has none (isolation level "process"): install bubblewrap or allow user namespaces`,
    );
  const [first] = externals;
  if (first === undefined || level.vm2 !== true) return;
  throw unavailable(
    externals.map(named),
    `the npm package ${named(first)} cannot be bundled, so it does not run at the isolation level "${levelLabel(level)}": use another package, or a server with SLUICE_ISOLATION=jail`,
  );
};

const unavailable = (packages: readonly string[], message: string): DomainError =>
  new DomainError('component.package_unavailable', message, { packages });
