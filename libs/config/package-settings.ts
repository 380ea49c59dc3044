import { flag, httpUrl, integer, list, optionalText, text, type Setting } from './setting.js';
import { workspaceIds } from './workspace-ids.js';

const PACKAGES = 'npm packages';

/** A private scope of npm packages. */
export interface ScopeSetting {
  /** Such as `@acme`. */
  readonly scope: string;
  readonly registry: string;
  readonly token: string | null;
  /** Environment variable that holds the token. */
  readonly tokenVariable: string | null;
  readonly tarballHosts: readonly string[];
  /** Workspaces that may use it, or null for all. */
  readonly workspaces: readonly string[] | null;
}

const SCOPE = /^@[a-z0-9~-][a-z0-9._~-]*$/;
const HOST = /^(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::\d{1,5})?$/i;
const TOKEN = /^[\x21-\x7e]{1,4096}$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const DENIED = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*(?:@[\w.^~<>=*+|-]+)?$/i;
const KEYS = ['registry', 'token', 'token_variable', 'tarball_hosts', 'workspaces'];

const isTexts = (value: unknown, pattern: RegExp): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string' && pattern.test(each));

class WrongScope extends Error {}

const scopeOf = (scope: string, given: unknown): ScopeSetting => {
  if (!SCOPE.test(scope)) throw new WrongScope('a scope is written like "@acme"');
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new WrongScope(`${scope} is no object: write {"registry": "https://…", "workspaces": ["o_…"]}`);
  const wrong = Object.keys(given).find((key) => !KEYS.includes(key));
  if (wrong !== undefined) throw new WrongScope(`${scope} has an unknown key; its keys are ${KEYS.join(', ')}`);
  const { registry, token, token_variable, tarball_hosts = [], workspaces } = given as Record<string, unknown>;
  const url = typeof registry === 'string' ? httpUrl(registry) : undefined;
  if (url === undefined) throw new WrongScope(`registry of ${scope} is no http or https URL`);
  if (token !== undefined && (typeof token !== 'string' || !TOKEN.test(token)))
    throw new WrongScope(`token of ${scope} is no text of visible ASCII characters`);
  if (token_variable !== undefined && (typeof token_variable !== 'string' || !VARIABLE.test(token_variable)))
    throw new WrongScope(`token_variable of ${scope} is no name of an environment variable`);
  if (token !== undefined && token_variable !== undefined)
    throw new WrongScope(`${scope} has token and token_variable: give one of them`);
  if (!isTexts(tarball_hosts, HOST)) throw new WrongScope(`tarball_hosts of ${scope} is no list of hosts`);
  const usableIn = workspaceIds(workspaces);
  if (usableIn === undefined)
    throw new WrongScope(`workspaces of ${scope} is neither a list of workspace ids nor "*" for all`);
  return {
    scope,
    registry: url,
    token: token ?? null,
    tokenVariable: token_variable ?? null,
    tarballHosts: tarball_hosts,
    workspaces: usableIn,
  };
};

const npmScopes: Setting<readonly ScopeSetting[]> = {
  name: 'SLUICE_NPM_SCOPES',
  group: PACKAGES,
  sentence:
    'Private scopes. Each is asked for at its own registry only, and can be used by its workspaces only. token_variable names the environment variable that holds the token.',
  allowed:
    'JSON like {"@acme": {"registry": "https://npm.acme.example", "token_variable": "ACME_TOKEN", "tarball_hosts": [], "workspaces": ["o_…"]}}; workspaces is "*" for all',
  fallback: [],
  shownDefault: 'none',
  // It may hold tokens.
  secret: true,
  parse: (given) => {
    try {
      const parsed: unknown = JSON.parse(given);
      if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
        return { ok: false, reason: 'no JSON object' };
      return { ok: true, value: Object.entries(parsed).map(([scope, value]) => scopeOf(scope, value)) };
    } catch (error) {
      return { ok: false, reason: error instanceof WrongScope ? error.message : 'no JSON' };
    }
  },
  show: (scopes) => scopes.map(({ scope }) => scope).join(','),
};

export const packages = {
  npmRegistry: text({
    name: 'SLUICE_NPM_REGISTRY',
    group: PACKAGES,
    fallback: 'https://registry.npmjs.org',
    allowed: 'an http or https URL without user and query',
    accept: httpUrl,
    sentence: 'Registry of the npm packages that components import. It may be in a private network.',
  }),
  npmToken: optionalText({
    name: 'SLUICE_NPM_TOKEN',
    group: PACKAGES,
    shownDefault: 'none',
    secret: true,
    allowed: 'a token of the registry',
    accept: (given) => (TOKEN.test(given) ? given : undefined),
    sentence: 'Token for SLUICE_NPM_REGISTRY. It is sent to that registry only.',
  }),
  npmTarballHosts: list({
    name: 'SLUICE_NPM_TARBALL_HOSTS',
    group: PACKAGES,
    allowed: 'hosts, with a port if need be',
    check: (entry) =>
      HOST.test(entry) ? undefined : `"${entry}" is no host: write it like cdn.example.com or cdn.example.com:8443`,
    sentence: 'Hosts besides SLUICE_NPM_REGISTRY from which its tarballs may come.',
  }),
  npmScopes,
  npmMinAgeH: integer({
    name: 'SLUICE_NPM_MIN_AGE_H',
    group: PACKAGES,
    min: 0,
    max: 8_760,
    fallback: 24,
    unit: 'hours',
    zero: 'the newest version',
    sentence:
      'Age of a version before a component without an exact version gets it; younger ones are left out with a warning. Most malicious versions are found within a day.',
  }),
  npmDeny: list({
    name: 'SLUICE_NPM_DENY',
    group: PACKAGES,
    allowed: 'package names, or name@range for some versions',
    check: (entry) =>
      DENIED.test(entry) ? undefined : `"${entry}" is no package: write name or name@range, such as left-pad@<1.2.0`,
    sentence:
      'Packages and versions that no component may have, not even from the cache or as a dependency of another one.',
  }),
  npmOffline: flag({
    name: 'SLUICE_NPM_OFFLINE',
    group: PACKAGES,
    fallback: false,
    sentence: 'Asks no registry. Components are built with pinned packages of the cache only.',
  }),
  packagesDir: optionalText({
    name: 'SLUICE_PACKAGES_DIR',
    group: PACKAGES,
    shownDefault: '<data dir>/packages',
    allowed: 'a folder that this process may write',
    sentence: 'Folder of the unpacked packages, a cache. Several processes of one machine may share it.',
  }),
  packagesCacheMb: integer({
    name: 'SLUICE_PACKAGES_CACHE_MB',
    group: PACKAGES,
    min: 16,
    max: 1_048_576,
    fallback: 2_048,
    unit: 'MB',
    sentence: 'Size of that folder above which the packages that were not used for longest are removed.',
  }),
} as const;
