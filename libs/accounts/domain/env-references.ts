import { DomainError } from '#libs/kernel/domain-error.js';

/** Variables of the server that credentials may refer to. */
export interface VariablesOffered {
  readonly allowed: readonly string[];
  readonly values: Readonly<Record<string, string | undefined>>;
}

interface EnvReference {
  readonly $env: unknown;
}

/** True for `{"$env": …}`, which stands for a variable of the server's environment. */
export const isEnvReference = (value: object): value is EnvReference =>
  Object.keys(value).length === 1 && Object.hasOwn(value, '$env');

/** Throws account.env_not_allowed for a variable that the operator does not offer. */
export const checkEnvReference = (
  { $env: name }: EnvReference,
  allowedEnv: readonly string[],
  parameter: string,
): void => {
  if (typeof name === 'string' && allowedEnv.includes(name)) return;
  const shown = JSON.stringify(name)?.slice(0, 100) ?? 'nothing';
  throw new DomainError(
    'account.env_not_allowed',
    `parameter ${parameter} refers to the variable ${shown}, which the operator does not offer: give the value itself, or have the name added to SLUICE_ACCOUNT_ENV`,
    { field: parameter, setting: 'SLUICE_ACCOUNT_ENV', actual: shown },
  );
};

/**
 * Replaces each reference by the variable's text, or by undefined when the variable is not set or no longer allowed.
 * The operator may have withdrawn it since the account was connected.
 */
export const withEnv = (
  value: unknown,
  allowed: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each: unknown) => withEnv(each, allowed, env));
  if (isEnvReference(value)) {
    const { $env: name } = value;
    return typeof name === 'string' && allowed.includes(name) ? env[name] : undefined;
  }
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withEnv(each, allowed, env)]));
};
