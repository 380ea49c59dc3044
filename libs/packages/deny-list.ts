import semver from 'semver';
import { parseSpecifier } from './specifier.js';

/** Packages that no component may have: `name`, or `name@range` for some versions. */
export class DenyList {
  private readonly ranges = new Map<string, string[]>();

  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const parsed = parseSpecifier(entry);
      if (!parsed) continue;
      const ranges = this.ranges.get(parsed.name) ?? [];
      ranges.push(parsed.range === '' ? '*' : parsed.range);
      this.ranges.set(parsed.name, ranges);
    }
  }

  deniesAll(name: string): boolean {
    return this.ranges.get(name)?.includes('*') ?? false;
  }

  denies(name: string, version: string): boolean {
    return (
      this.ranges
        .get(name)
        ?.some(
          (range) => range === '*' || semver.satisfies(version, range, { includePrerelease: true, loose: true }),
        ) ?? false
    );
  }
}

/** Returns the reason why an entry of the setting is wrong. */
export const wrongDenial = (entry: string): string | undefined => {
  const parsed = parseSpecifier(entry);
  if (!parsed || parsed.subpath !== '') return `"${entry}" is no package name: write name or name@range`;
  if (parsed.range !== '' && semver.validRange(parsed.range) === null)
    return `"${entry}" has no range of versions after its @: write it as name@<1.2.3 or name@1.2.3`;
  return undefined;
};
