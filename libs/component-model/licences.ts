/** Shown where a package states no licence. */
export const NO_LICENCE = 'none stated';

const MOST_CHARS = 100;

/**
 * Licence fields of a package.json: `license`, in former forms an object with `type`, or a list of these in `licenses`.
 */
interface Described {
  readonly license?: unknown;
  readonly licenses?: unknown;
}

/** The licence that a package.json states, as one short line of text. Undefined when it states none. */
export const statedLicence = ({ license, licenses }: Described): string | undefined => {
  const former: readonly unknown[] = Array.isArray(licenses) ? licenses.slice(0, 10) : [licenses];
  const all = [license, ...former];
  const names = new Set(all.map(nameOf).filter((name) => name !== ''));
  const text = [...names].join(' OR ');
  return text === '' ? undefined : text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS - 1)}…` : text;
};

const nameOf = (given: unknown): string => {
  const name: unknown = typeof given === 'object' && given !== null && 'type' in given ? given.type : given;
  // Any author may write this text, and it is printed on terminals.
  return typeof name === 'string'
    ? name
        .slice(0, 200)
        .replace(/[^\p{L}\p{N}\p{P}\p{S}]+/gu, ' ')
        .trim()
    : '';
};
