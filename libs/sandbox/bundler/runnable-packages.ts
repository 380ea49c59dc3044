import { DomainError } from '#libs/kernel/domain-error.js';
import { type JailLevel } from '../jail/jail-level.js';
import { type BundledPackages } from './bundler.js';
import { lookupOf } from './package-rules.js';

/**
 * Throws component.package_unavailable for machine code without a jail. See
 * docs/reference/component-model.md#packages-beside.
 */
export const checkRunnable = (level: Pick<JailLevel, 'name'>, packages: BundledPackages | null): void => {
  if (packages === null || packages.native === null || level.name !== 'process') return;
  const { native, installed } = packages;
  const found = installed.lock.packages.find(({ place }) => place === native);
  const named = found === undefined ? lookupOf(native).name : `${found.name}@${found.version}`;
  throw new DomainError(
    'component.package_unavailable',
    `the npm package ${named} contains machine code, which runs in a jail only, and this server has none (isolation level "process"): install bubblewrap or allow user namespaces`,
    { packages: [named] },
  );
};
