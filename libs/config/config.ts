import { type Setting } from './setting.js';
import { SETTINGS, type Config } from './settings.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Settings that are wrong, all of them at once: each names itself, the value given and what is allowed. */
export class WrongSettings extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`wrong settings:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'WrongSettings';
  }
}

type AnySetting = (typeof SETTINGS)[keyof typeof SETTINGS];

/**
 * Reads the settings from environment variables; a blank one counts as not given. Throws WrongSettings.
 * `warn` gets a sentence for each SLUICE_ variable that is none of ours.
 */
export const loadConfig = (env: Environment, warn: (text: string) => void = () => undefined): Config => {
  const problems: string[] = [];
  const values: [string, unknown][] = Object.entries<AnySetting>(SETTINGS).map(([field, setting]) => {
    const given = env[setting.name]?.trim() ?? '';
    if (given === '') return [field, setting.fallback];
    const parsed = setting.parse(given);
    if (parsed.ok) return [field, parsed.value];
    problems.push(problemOf(setting, given, parsed.reason));
    return [field, setting.fallback];
  });
  // One entry for each setting, of the setting's own type: what the type of SETTINGS says of it.
  const config = Object.fromEntries(values) as Config;
  problems.push(...contradictions(config));
  if (problems.length > 0) throw new WrongSettings(problems);
  for (const text of unknownSettings(env)) warn(text);
  return config;
};

const problemOf = ({ name, allowed, secret }: AnySetting, given: string, reason: string | undefined): string => {
  const shown = secret ? `a value of ${given.length} characters` : JSON.stringify(given);
  return `${name} is ${shown}${reason === undefined ? '' : ` (${reason})`}; allowed: ${allowed}`;
};

const contradictions = (config: Config): string[] => {
  if (config.engine === 'embedded') return [];
  const needed = [
    [SETTINGS.eventStoreUrl, config.eventStoreUrl === null],
    [SETTINGS.mongoUrl, config.mongoUrl === null],
    [SETTINGS.kafkaBrokers, config.kafkaBrokers.length === 0],
    // What all processes must agree on.
    [SETTINGS.publicUrl, config.publicUrl === null],
    [SETTINGS.secretKey, config.secretKey === null],
  ] as const;
  return needed.flatMap(([{ name, allowed }, missing]) =>
    missing ? [`${name} is not given, and SLUICE_ENGINE=distributed needs it; allowed: ${allowed}`] : [],
  );
};

/** A sentence for each variable that looks like a setting and is none, with the nearest name that is. */
export const unknownSettings = (env: Environment): string[] => {
  const known = Object.values<AnySetting>(SETTINGS).map(({ name }) => name);
  return Object.keys(env)
    .filter((name) => name.startsWith('SLUICE_') && !known.some((each) => each === name))
    .sort()
    .map((name) => {
      const [nearest = ''] = [...known].sort((a, b) => distance(name, a) - distance(name, b));
      const near = distance(name, nearest) <= 1 + name.length / 4;
      return `${name} is no setting of this version and has no effect${near ? `: did you mean ${nearest}?` : ''}`;
    });
};

/** How many characters to insert, delete or replace (Levenshtein). */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
};

export interface DescribedSetting {
  readonly name: string;
  /** Secrets only as given or not given, URLs without their password. */
  readonly value: string;
  readonly isDefault: boolean;
  readonly sentence: string;
}

/** For the summary at start and `sluice config`. Safe to print. */
export const describeConfig = (config: Config): readonly DescribedSetting[] =>
  (Object.keys(SETTINGS) as (keyof Config)[]).map((field) => {
    const setting: AnySetting = SETTINGS[field];
    const value = config[field];
    const isDefault = JSON.stringify(value) === JSON.stringify(setting.fallback);
    const shown = isDefault ? setting.shownDefault : setting.secret ? '(given)' : showOf(setting, value);
    return { name: setting.name, value: shown, isDefault, sentence: setting.sentence };
  });

const showOf = (setting: AnySetting, value: Config[keyof Config]): string =>
  (setting as Setting<typeof value>).show(value);

/** docs/reference/config.md, generated. */
export const configReference = (): string => {
  const settings = Object.values<AnySetting>(SETTINGS);
  const groups = [...new Set(settings.map(({ group }) => group))];
  const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
  const row = ({ name, shownDefault, allowed, sentence }: AnySetting): string =>
    `| \`${name}\` | ${cell(shownDefault)} | ${cell(allowed)} | ${cell(sentence)} |`;
  const section = (group: string): string =>
    [
      `## ${group}`,
      '',
      '| Variable | Default | Allowed | What it does |',
      '| --- | --- | --- | --- |',
      ...settings.filter((setting) => setting.group === group).map(row),
    ].join('\n');
  return [
    '# Settings',
    'Environment variables, read once at start. A wrong value is refused at start; `sluice config` prints what is in force. This page is generated from libs/config/settings.ts.',
    ...groups.map(section),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n');
};

/** Largest API request: the code as JSON text, where line ends and quotes take two characters, and the rest of it. */
export const maxApiBodyBytes = (config: Config): number => 2 * config.codeMaxKb * 1024 + 256 * 1024;

/** Without a trailing slash. `port` is the one listened on. */
export const publicUrlOf = (config: Config, port: number): string => {
  if (config.publicUrl !== null) return config.publicUrl;
  const host = /^(0\.0\.0\.0|::|\[::\])$/.test(config.host) ? '127.0.0.1' : config.host;
  return `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
};
