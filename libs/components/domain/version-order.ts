interface Version {
  readonly numbers: readonly [number, number, number];
  readonly pre: readonly string[];
}

const SEMVER = /^v?(\d{1,15})\.(\d{1,15})\.(\d{1,15})(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/;

const parse = (text: string): Version | undefined => {
  const match = SEMVER.exec(text.trim());
  if (!match) return undefined;
  const [, major, minor, patch, pre] = match;
  return { numbers: [Number(major), Number(minor), Number(patch)], pre: pre ? pre.split('.') : [] };
};

/** Compares by Semantic Versioning 2.0.0, section 11. Versions of any other form are equal and come first. */
export const compareVersions = (a: string, b: string): number => {
  const left = parse(a);
  const right = parse(b);
  if (!left || !right) return Number(left !== undefined) - Number(right !== undefined);
  for (const i of [0, 1, 2] as const) {
    if (left.numbers[i] !== right.numbers[i]) return left.numbers[i] - right.numbers[i];
  }
  if (left.pre.length === 0 || right.pre.length === 0) return right.pre.length - left.pre.length;
  for (let i = 0; i < Math.min(left.pre.length, right.pre.length); i++) {
    const order = comparePreRelease(left.pre[i] ?? '', right.pre[i] ?? '');
    if (order !== 0) return order;
  }
  return left.pre.length - right.pre.length;
};

/** Of equal versions the last saved is the newer one. */
export const isNewerVersion = (a: SavedVersion, b: SavedVersion): boolean => {
  const order = compareVersions(a.version, b.version);
  return order === 0 ? a.updatedAt > b.updatedAt : order > 0;
};

/** `updatedAt`: epoch milliseconds of the last time that it was saved. */
interface SavedVersion {
  readonly version: string;
  readonly updatedAt: number;
}

/**
 * Whether a version is the wanted one, or within `^1.2.3`: not older, and equal up to the first number that is not 0. As
 * in npm, a pre-release is in a range only when the range names one of the same three numbers.
 */
export const isWanted = (version: string, wanted: string): boolean => {
  if (!wanted.startsWith('^')) return version === wanted;
  const [found, least] = [parse(version), parse(wanted.slice(1))];
  if (!found || !least || compareVersions(version, wanted.slice(1)) < 0) return false;
  const isSame = (upTo: number): boolean => least.numbers.slice(0, upTo).every((each, i) => each === found.numbers[i]);
  if (found.pre.length > 0 && (least.pre.length === 0 || !isSame(3))) return false;
  const first = least.numbers.findIndex((each) => each > 0);
  return isSame(first === -1 ? 3 : first + 1);
};

const comparePreRelease = (a: string, b: string): number => {
  const [aIsNumber, bIsNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (aIsNumber && bIsNumber) return Number(a) - Number(b);
  if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
};
