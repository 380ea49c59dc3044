import { type Vault } from '../kernel/vault.js';
import { type ConfiguredRequest } from '../component-model/http-request.js';
import { accountIdOf, type ConfiguredValue, type SourceDefinition } from '../sources/published.js';
import { type AccountAuths, type PropBinder } from './runner-ports.js';
import { type BoundProp } from '../sandbox/sandbox.js';

/** Binds a definition's props: values, secrets from the vault, endpoints with their public URL, timers, db, apps. */
export const propBinder = (
  vault: Vault,
  endpointUrl: (key: string) => string,
  /** Unwraps a value that was chosen with its label. */
  boundValue: (configured: ConfiguredValue & { readonly value: unknown }) => unknown,
  accounts: AccountAuths,
): PropBinder => {
  const secretOf = async (name: string, ref: string, workspaceId: string): Promise<string> => {
    const secret = await vault.get(ref, workspaceId);
    if (secret === undefined) throw new Error(`the secret of prop ${name} is missing from the vault`);
    return secret;
  };
  const requestOf = async (
    name: string,
    { value, authRef }: Extract<ConfiguredValue, { value: unknown }>,
    workspaceId: string,
  ): Promise<BoundProp> => {
    const secrets = authRef === undefined ? '{}' : await secretOf(name, authRef, workspaceId);
    return { kind: 'request', value: withAuth(value as ConfiguredRequest, JSON.parse(secrets) as object) };
  };
  return {
    versionOf(workspaceId: string, { appProps, values }: SourceDefinition): string {
      return appProps
        .map((name) => accountIdOf(valueIn(values, name)))
        .map((id) => (id === undefined ? '' : accounts.versionOf(id, workspaceId)))
        .join();
    },

    freshen: (workspaceId, definition) => freshened(accounts, workspaceId, definition),

    async bind(workspaceId: string, definition: SourceDefinition): Promise<Readonly<Record<string, BoundProp>>> {
      // A Map, because a prop may have the name of an inherited property.
      const props = new Map<string, BoundProp>();
      const requests = new Set(definition.requestProps);
      for (const name of definition.appProps) {
        const id = accountIdOf(valueIn(definition.values, name));
        props.set(name, { kind: 'app', auth: id === undefined ? {} : await accounts.authOf(id, workspaceId) });
      }
      for (const [name, configured] of Object.entries(definition.values)) {
        if (props.has(name)) continue;
        if (definition.storeProps?.includes(name) === true && 'value' in configured) {
          props.set(name, { kind: 'store', id: String(configured.value) });
          continue;
        }
        if (!('secretRef' in configured)) {
          if (requests.has(name)) props.set(name, await requestOf(name, configured, workspaceId));
          else props.set(name, { kind: 'value', value: boundValue(configured) });
          continue;
        }
        const secret = await secretOf(name, configured.secretRef, workspaceId);
        props.set(name, { kind: 'value', value: secret });
      }
      for (const { prop, key } of definition.endpoints) props.set(prop, { kind: 'http', endpoint: endpointUrl(key) });
      for (const { prop, intervalSeconds, cron } of definition.timers)
        props.set(prop, { kind: 'timer', intervalSeconds, cron });
      for (const prop of definition.dbProps) props.set(prop, { kind: 'db' });
      for (const prop of definition.dirProps ?? []) props.set(prop, { kind: 'dir' });
      return Object.fromEntries(props);
    },
  };
};

/** Undefined when no token has expired, which costs a run nothing. */
const freshened = (
  accounts: AccountAuths,
  workspaceId: string,
  { appProps, values }: SourceDefinition,
): Promise<void> | undefined => {
  let all: Promise<void> | undefined;
  for (const name of appProps) {
    const id = accountIdOf(valueIn(values, name));
    const one = id === undefined ? undefined : accounts.freshen(id, workspaceId);
    if (one) all = all ? Promise.all([all, one]).then(() => undefined) : one;
  }
  return all;
};

/** The request with the secrets of its `auth` in the place of their masks. */
export const withAuth = (request: ConfiguredRequest, secrets: object): ConfiguredRequest =>
  request.auth ? { ...request, auth: Object.assign({ ...request.auth }, secrets) } : request;

const valueIn = (values: SourceDefinition['values'], name: string): ConfiguredValue | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;
