import { type LockedPackage } from '#libs/component-model/package-lock.js';
import { DenyList } from './deny-list.js';
import { denied, notOpen } from './fetcher/refusal-texts.js';
import { unavailable } from './refusals.js';
import { scopeOf } from './specifier.js';

export interface ScopeAccess {
  readonly scope: string;
  /** Workspaces that may use it, or null for all. */
  readonly workspaces: readonly string[] | null;
}

/** Rules on which workspace may use which package. They apply to cached packages too. */
export class Access {
  private readonly deny: DenyList;

  constructor(
    denyList: readonly string[],
    private readonly scopes: readonly ScopeAccess[],
  ) {
    this.deny = new DenyList(denyList);
  }

  /** Scopes that the workspace may not use. */
  closedTo(workspaceId: string): readonly string[] {
    return this.scopes
      .filter(({ workspaces }) => workspaces !== null && !workspaces.includes(workspaceId))
      .map(({ scope }) => scope);
  }

  /** Throws DomainError component.package_unavailable for a package that the workspace may not use. */
  check(packages: readonly Pick<LockedPackage, 'name' | 'version'>[], workspaceId: string): void {
    const closed = new Set(this.closedTo(workspaceId));
    for (const { name, version } of packages) {
      if (closed.has(scopeOf(name) ?? '')) throw unavailable(notOpen(name), name);
      if (this.deny.denies(name, version)) throw unavailable(denied(`${name}@${version}`), name);
    }
  }
}
