interface EnvReference {
  readonly $env: unknown;
}

/** True for `{"$env": …}`, which stands for a variable of the server's environment. */
export const isEnvReference = (value: object): value is EnvReference =>
  Object.keys(value).length === 1 && Object.hasOwn(value, '$env');

/**
 * Replaces each reference by the variable's text. A name that is not allowed now, or not set, gives undefined, because
 * the operator may have withdrawn it since the account was connected.
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
