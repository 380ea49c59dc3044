import { distance } from 'fastest-levenshtein';
import { maskSecrets, withoutPassword } from '#libs/kernel/mask-secrets.js';
import { secretKeyFrom } from './secret-key.js';
import { type Setting } from './setting.js';
import { SETTINGS, type Config } from './settings.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** All wrong settings together, each with its name, the given value and the allowed values. */
export class WrongSettings extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`wrong settings:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'WrongSettings';
  }
}

type AnySetting = (typeof SETTINGS)[keyof typeof SETTINGS];

/**
 * Reads the settings from environment variables; a blank one counts as not given. Throws WrongSettings.
 * Calls `warn` with a sentence for each unknown SLUICE_ variable.
 */
export const loadConfig = (env: Environment, warn: (text: string) => void = () => undefined): Config => {
  const problems: string[] = [];
  const refused = new Set<string>();
  const values: [string, unknown][] = Object.entries<AnySetting>(SETTINGS).map(([field, setting]) => {
    const given = givenIn(env, setting.name);
    if (given === '') return [field, setting.fallback];
    const parsed = setting.parse(given);
    if (parsed.ok) return [field, parsed.value];
    problems.push(problemOf(setting, given, parsed.reason));
    refused.add(setting.name);
    return [field, setting.fallback];
  });
  // Each setting has one entry of its own type, so the cast matches the type of SETTINGS.
  const config = Object.fromEntries(values) as Config;
  problems.push(...contradictions(config, refused));
  if (problems.length > 0) throw new WrongSettings(problems);
  for (const text of unknownSettings(env)) warn(text);
  return config;
};

const givenIn = (env: Environment, name: string): string => {
  const given = env[name]?.trim() ?? '';
  return given !== '' || name.startsWith('SLUICE_') ? given : (env[name.toLowerCase()]?.trim() ?? '');
};

const problemOf = ({ name, allowed, secret }: AnySetting, given: string, reason: string | undefined): string => {
  const plain = withoutPassword(maskSecrets(given));
  const shown = secret ? `a value of ${given.length} characters` : JSON.stringify(plain);
  // A reason may quote the value.
  if (!secret && plain !== given) return `${name} is ${shown}; allowed: ${allowed}`;
  const told = reason !== undefined && secret ? withoutPassword(maskSecrets(reason)) : reason;
  return `${name} is ${shown}${told === undefined ? '' : ` (${told})`}; allowed: ${allowed}`;
};

interface Contradiction {
  /** The settings that it is about. */
  readonly names: readonly string[];
  readonly text: string;
}

/** A refused setting has its fallback here, so it is not compared with others. */
const contradictions = (config: Config, refused: ReadonlySet<string>): string[] =>
  [
    ...wrongPreviousKey(config),
    ...missingForServers(config),
    ...wrongKafkaSecurity(config),
    ...withoutProxy(config),
  ].flatMap(({ names, text }) => (names.some((name) => refused.has(name)) ? [] : [text]));

const wrongPreviousKey = ({ secretKey, secretKeyPrevious }: Config): Contradiction[] => {
  if (secretKeyPrevious === null) return [];
  const [name, other] = [SETTINGS.secretKeyPrevious.name, SETTINGS.secretKey.name];
  const about = (text: string): Contradiction[] => [{ names: [name, other], text: `${name} ${text}` }];
  if (secretKey === null) return about(`is given without ${other}: give the new key as ${other}, or unset it`);
  if (!secretKeyFrom(secretKey).equals(secretKeyFrom(secretKeyPrevious))) return [];
  return about(`is the same key as ${other}: unset it, or give the former key`);
};

const withoutProxy = ({ egressProxy, egressProxyResolves }: Config): Contradiction[] => {
  if (egressProxy !== null || !egressProxyResolves) return [];
  const [name, other] = [SETTINGS.egressProxyResolves.name, SETTINGS.egressProxy.name];
  return [{ names: [name, other], text: `${name} is given without ${other}: give both, or neither` }];
};

const missingForServers = (config: Config): Contradiction[] => {
  if (config.engine === 'embedded') return [];
  const needed = [
    [SETTINGS.eventStoreUrl, config.eventStoreUrl === null],
    [SETTINGS.mongoUrl, config.mongoUrl === null],
    [SETTINGS.kafkaBrokers, config.kafkaBrokers.length === 0],
    // All processes must agree on these settings.
    [SETTINGS.publicUrl, config.publicUrl === null],
    [SETTINGS.secretKey, config.secretKey === null],
  ] as const;
  return needed.flatMap(([{ name, allowed }, missing]) => {
    const text = `${name} is not given, and SLUICE_ENGINE=distributed needs it; allowed: ${allowed}`;
    return missing ? [{ names: [name], text }] : [];
  });
};

/** Settings of Kafka that mean nothing without another one. */
const wrongKafkaSecurity = (config: Config): Contradiction[] => {
  const { kafkaTls, kafkaTlsCa, kafkaTlsCert, kafkaTlsKey, kafkaSaslMechanism, kafkaUsername, kafkaPassword } = config;
  const withUser = kafkaSaslMechanism !== 'none';
  const mechanism = SETTINGS.kafkaSaslMechanism;
  const tls = { name: SETTINGS.kafkaTls.name, how: `${SETTINGS.kafkaTls.name}=true` };
  const withMechanism = { name: mechanism.name, how: `${mechanism.name} (${mechanism.allowed})` };
  const other = ({ name }: AnySetting): { readonly name: string; readonly how: string } => ({ name, how: name });
  const pairs = [
    [SETTINGS.kafkaTlsCa, kafkaTlsCa !== null && !kafkaTls, tls],
    [SETTINGS.kafkaTlsCert, kafkaTlsCert !== null && !kafkaTls, tls],
    [SETTINGS.kafkaTlsCert, kafkaTlsCert !== null && kafkaTlsKey === null, other(SETTINGS.kafkaTlsKey)],
    [SETTINGS.kafkaTlsKey, kafkaTlsKey !== null && kafkaTlsCert === null, other(SETTINGS.kafkaTlsCert)],
    [mechanism, withUser && kafkaUsername === null, other(SETTINGS.kafkaUsername)],
    [mechanism, withUser && kafkaPassword === null, other(SETTINGS.kafkaPassword)],
    [SETTINGS.kafkaUsername, kafkaUsername !== null && !withUser, withMechanism],
    [SETTINGS.kafkaPassword, kafkaPassword !== null && !withUser, withMechanism],
  ] as const;
  return pairs.flatMap(([{ name }, isWrong, missing]) => {
    const text = `${name} is given without ${missing.how}: give both, or neither`;
    return isWrong ? [{ names: [name, missing.name], text }] : [];
  });
};

/** Variables that only commands read which ask a server (docs/reference/workflows.md#files-server). */
const OF_COMMANDS = ['SLUICE_URL', 'SLUICE_CONFIG', 'SLUICE_PROFILE'] as const;

/** Returns a sentence for each unknown variable that looks like a setting, with the nearest known name. */
export const unknownSettings = (env: Environment): string[] => {
  const known = Object.values<AnySetting>(SETTINGS).map(({ name }) => name);
  return Object.keys(env)
    .filter((name) => name.startsWith('SLUICE_') && ![...known, ...OF_COMMANDS].some((each) => each === name))
    .sort()
    .map((name) => {
      const [nearest = ''] = [...known].sort((a, b) => distance(name, a) - distance(name, b));
      const near = distance(name, nearest) <= 1 + name.length / 4;
      return `${name} is no setting of this version and has no effect${near ? `: did you mean ${nearest}?` : ''}`;
    });
};

export interface DescribedSetting {
  readonly name: string;
  /** Value to show. Secrets show only whether they are given, and URLs hide their password. */
  readonly value: string;
  readonly isDefault: boolean;
  readonly sentence: string;
}

/** Describes the settings for `sluice config`. Safe to print. */
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

/** Generates docs/reference/config.md. */
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
    '<a id="env-file"></a>Each program also reads the `SLUICE_` variables of the file `.env` in its working directory, if there is one. The environment wins over the file. Other names in the file have no effect. A line that is not `NAME=value` is refused at start, with its number.',
    '<a id="engine-urls"></a>`SLUICE_EVENTSTORE_URL` and `SLUICE_MONGO_URL` are read by the clients of these servers, with every host and option that they take. What a client refuses is refused at the start, with its reason. An option that the client of EventStoreDB does not know is ignored, with a warning. That client takes host names and IPv4 addresses only.',
    ...groups.map(section),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n');
};

/** Public URL without a trailing slash. `port` is the one listened on. */
export const publicUrlOf = (config: Config, port: number): string => {
  if (config.publicUrl !== null) return config.publicUrl;
  const host = /^(0\.0\.0\.0|::|\[::\])$/.test(config.host) ? '127.0.0.1' : config.host;
  return `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
};
