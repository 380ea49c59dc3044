import { maskSecrets, withoutPassword } from '#libs/kernel/mask-secrets.js';

/** Variables that many programs read have their usual name. As with curl, the lower-case name counts too. */
type Name = `SLUICE_${string}` | 'HTTPS_PROXY' | 'NO_PROXY';

/** Environment variable with its name, allowed values and purpose. */
export interface Setting<T> {
  readonly name: Name;
  readonly group: string;
  readonly sentence: string;
  /** Default in the form shown to readers. */
  readonly shownDefault: string;
  readonly fallback: T;
  /** Allowed values, for the reference and for error texts. */
  readonly allowed: string;
  readonly secret: boolean;
  /** Parses a value. A failure has a `reason` when the allowed values do not explain it. */
  parse(text: string): Parsed<T>;
  show(value: T): string;
}

export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason?: string };

const shown = (value: string): string => maskSecrets(withoutPassword(value));

const ok = <T>(value: T): Parsed<T> => ({ ok: true, value });
const wrong = (reason?: string): { readonly ok: false; readonly reason?: string } =>
  reason === undefined ? { ok: false } : { ok: false, reason };

interface About {
  readonly name: Name;
  readonly group: string;
  readonly sentence: string;
}

export const integer = (
  about: About & {
    readonly min: number;
    readonly max: number;
    readonly fallback: number;
    readonly unit?: string;
    /** Meaning of 0 where it is allowed and special. */
    readonly zero?: string;
  },
): Setting<number> => {
  const { name, group, sentence, min, max, fallback, unit, zero } = about;
  const range = `an integer from ${min} to ${max}`;
  return {
    name,
    group,
    sentence,
    fallback,
    shownDefault: String(fallback),
    allowed: [
      range,
      ...(unit === undefined ? [] : [`in ${unit}`]),
      ...(zero === undefined ? [] : [`0 = ${zero}`]),
    ].join(', '),
    secret: false,
    parse: (text) => {
      const value = Number(text);
      return /^\d{1,15}$/.test(text) && value >= min && value <= max ? ok(value) : wrong(unitIn(text, unit));
    },
    show: String,
  };
};

/** Units as people write them, by the unit of a setting. */
const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  KB: ['k', 'kb', 'kib'],
  MB: ['m', 'mb', 'mib'],
  GB: ['g', 'gb', 'gib'],
  milliseconds: ['ms', 'milliseconds'],
  seconds: ['s', 'sec', 'second', 'seconds'],
  minutes: ['min', 'minute', 'minutes'],
  hours: ['h', 'hour', 'hours'],
  days: ['d', 'day', 'days'],
};

/** Explains how to write a number that was given with a unit. */
const unitIn = (given: string, unit = ''): string | undefined => {
  const [, number = '', word = ''] = /^(\d{1,15})\s*([a-z]+)$/i.exec(given) ?? [];
  const written = word.toLowerCase();
  if (WRITTEN[unit]?.includes(written) === true) return `write ${number}`;
  return Object.values(WRITTEN).flat().includes(written) ? 'write the number without a unit' : undefined;
};

/** Makes a number setting whose default depends on its use. */
export const optionalInteger = (
  about: About & { readonly min: number; readonly max: number; readonly unit: string; readonly shownDefault: string },
): Setting<number | null> => {
  const inner = integer({ ...about, fallback: about.min });
  return {
    ...inner,
    fallback: null,
    shownDefault: about.shownDefault,
    show: (value) => (value === null ? about.shownDefault : String(value)),
  };
};

export const choice = <const T extends string>(
  about: About & { readonly values: readonly T[]; readonly fallback: T },
): Setting<T> => {
  const { name, group, sentence, values, fallback } = about;
  return {
    name,
    group,
    sentence,
    fallback,
    shownDefault: fallback,
    allowed: `one of ${values.join(', ')}`,
    secret: false,
    parse: (text) => {
      const value = values.find((each) => each === text.toLowerCase());
      return value === undefined ? wrong() : ok(value);
    },
    show: (value) => value,
  };
};

export const flag = (about: About & { readonly fallback: boolean }): Setting<boolean> => {
  const { name, group, sentence, fallback } = about;
  return {
    name,
    group,
    sentence,
    fallback,
    shownDefault: String(fallback),
    allowed: 'true or false',
    secret: false,
    parse: (text) => {
      if (/^(true|1|yes|on)$/i.test(text)) return ok(true);
      return /^(false|0|no|off)$/i.test(text) ? ok(false) : wrong();
    },
    show: String,
  };
};

export interface TextRules {
  readonly allowed: string;
  readonly shownDefault?: string;
  readonly secret?: boolean;
  /** Returns the value in normal form, or undefined when it is not allowed. */
  readonly accept?: (text: string) => string | undefined;
}

export const text = (about: About & TextRules & { readonly fallback: string }): Setting<string> => {
  const { name, group, sentence, fallback, allowed, accept = (given) => given } = about;
  return {
    name,
    group,
    sentence,
    fallback,
    allowed,
    shownDefault: about.shownDefault ?? fallback,
    secret: about.secret ?? false,
    parse: (given) => {
      const value = accept(given);
      return value === undefined ? wrong() : ok(value);
    },
    show: shown,
  };
};

export const optionalText = (about: About & TextRules & { readonly shownDefault: string }): Setting<string | null> => ({
  ...text({ ...about, fallback: '' }),
  fallback: null,
  show: (value) => (value === null ? about.shownDefault : shown(value)),
});

/** Makes a setting of comma-separated entries. `check` returns the reason why an entry is wrong. */
export const list = (
  about: About & { readonly allowed: string; readonly check: (entry: string) => string | undefined },
): Setting<readonly string[]> => {
  const { name, group, sentence, allowed, check } = about;
  return {
    name,
    group,
    sentence,
    allowed: `${allowed}, separated by commas`,
    fallback: [],
    shownDefault: 'none',
    secret: false,
    parse: (given) => {
      const entries = given
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== '');
      const reasons = entries.flatMap((entry) => check(entry) ?? []);
      return reasons.length === 0 ? ok(entries) : wrong(reasons.join('; '));
    },
    show: (entries) => (entries.length === 0 ? 'none' : shown(entries.join(','))),
  };
};

/** Normalises an http(s) URL without user, query and fragment. Returns undefined for any other text. */
export const httpUrl = (given: string): string | undefined => {
  if (!URL.canParse(given)) return undefined;
  const url = new URL(given);
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '' || url.hash !== '') return undefined;
  return url.href.replace(/\/+$/, '');
};
