/** Names of variables that credentials may refer to (docs/reference/component-model.md#app-env). */
export const ACCOUNT_ENV = Symbol('AccountEnv');
