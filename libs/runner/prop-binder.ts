import { type Vault } from '#libs/kernel/vault.js';
import { type ConfiguredRequest } from '#libs/component-model/http-request.js';
import {
  accountIdOf,
  type PlannedProp,
  propsOf,
  type SourceDefinition,
  type ValueProp,
} from '#libs/sources/published.js';
import { type AccountAuths, type PropBinder } from './runner-ports.js';
import { type BoundProp } from '#libs/sandbox/index.js';

/** Returns the text of a secret. Rejects when there is none. */
type SecretTexts = (prop: string, ref: string) => string | Promise<string>;

/** Binds each kind of prop for `this`. Undefined for a prop that `this` lacks. */
type Binders = {
  readonly [K in PlannedProp['kind']]: (
    planned: PlannedProp & { readonly kind: K },
    workspaceId: string,
    textOf: SecretTexts,
  ) => BoundProp | undefined | Promise<BoundProp>;
};

/** Binds a definition's props: values, secrets from the vault, endpoints with their public URL, timers, db, apps. */
export const propBinder = (
  vault: Pick<Vault, 'get'>,
  endpointUrl: (key: string) => string,
  /** Unwraps a value that was stored with its label. */
  boundValue: (planned: ValueProp) => unknown,
  accounts: AccountAuths,
): PropBinder => {
  const binders: Binders = {
    value: (planned) => ({ kind: 'value', value: boundValue(planned) }),
    secret: async ({ prop, secretRef }, _workspaceId, textOf) => ({
      kind: 'value',
      value: await textOf(prop, secretRef),
    }),
    request: async ({ prop, value, secretRef }, _workspaceId, textOf) => {
      const secrets = secretRef === undefined ? '{}' : await textOf(prop, secretRef);
      return { kind: 'request', value: withAuth(value as ConfiguredRequest, JSON.parse(secrets) as object) };
    },
    store: ({ value }) => ({ kind: 'store', id: String(value) }),
    app: async ({ value }, workspaceId) => {
      const id = accountIdOf(value);
      return { kind: 'app', auth: id === undefined ? {} : await accounts.authOf(id, workspaceId) };
    },
    http: ({ key }) => ({ kind: 'http', endpoint: endpointUrl(key) }),
    timer: ({ intervalSeconds, cron }) => ({ kind: 'timer', intervalSeconds, cron }),
    apphook: () => undefined,
    db: () => ({ kind: 'db' }),
    dir: () => ({ kind: 'dir' }),
  };
  const bindOne = <K extends PlannedProp['kind']>(
    planned: PlannedProp & { readonly kind: K },
    workspaceId: string,
    textOf: SecretTexts,
  ): BoundProp | undefined | Promise<BoundProp> => binders[planned.kind](planned, workspaceId, textOf);

  return {
    versionOf(workspaceId, definition): string {
      return accountsOf(definition)
        .map((id) => (id === undefined ? '' : accounts.versionOf(id, workspaceId)))
        .join();
    },

    /** Returns undefined when no token has expired, so that a run waits for nothing. */
    freshen(workspaceId, definition): Promise<void> | undefined {
      const refreshed = accountsOf(definition).flatMap((id) =>
        id === undefined ? [] : (accounts.freshen(id, workspaceId) ?? []),
      );
      return refreshed.length === 0 ? undefined : Promise.all(refreshed).then(() => undefined);
    },

    async bind(workspaceId, definition, texts): Promise<Readonly<Record<string, BoundProp>>> {
      const textOf = async (prop: string, ref: string): Promise<string> => {
        const text = texts ? texts.get(ref) : await vault.get(ref, workspaceId);
        if (text === undefined) throw new Error(`the secret of prop ${prop} is missing from the vault`);
        return text;
      };
      // A Map, because a prop may have the name of an inherited property.
      const bound = new Map<string, BoundProp>();
      for (const planned of definition.props) {
        const one = await bindOne(planned, workspaceId, textOf);
        if (one !== undefined) bound.set(planned.prop, one);
      }
      return Object.fromEntries(bound);
    },
  };
};

const accountsOf = (definition: SourceDefinition): readonly (string | undefined)[] =>
  propsOf(definition, 'app').map(({ value }) => accountIdOf(value));

/** Returns the request with the secrets of its `auth` instead of their masks. */
const withAuth = (request: ConfiguredRequest, secrets: object): ConfiguredRequest =>
  request.auth ? { ...request, auth: Object.assign({ ...request.auth }, secrets) } : request;
