import { hash } from 'node:crypto';
import { withDynamicProps } from '#libs/components/published.js';
import { type ComponentMetadata, type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { secretsOf } from '#libs/runner/outcome/prop-secrets.js';
import { propBinder } from '#libs/runner/prop-binder.js';
import { type BoundProp } from '#libs/sandbox/index.js';
import { boundValue } from '#libs/sources/domain/bound-value.js';
import { planProps } from '#libs/sources/domain/props.js';
import { type SourceDefinition } from '#libs/sources/published.js';
import { type GivenState } from './published.js';

export interface BoundProps {
  readonly definition: SourceDefinition;
  readonly bound: Readonly<Record<string, BoundProp>>;
  /** Texts that logs show as `********`. */
  readonly secrets: readonly string[];
  readonly warnings: readonly string[];
}

export interface PropsRequest {
  readonly metadata: ComponentMetadata;
  readonly state: GivenState;
  readonly now: number;
  /** True where a form asks, which is not filled in yet. */
  readonly mayLackProps: boolean;
  /** Props that additionalProps added or changed. */
  readonly dynamicProps?: readonly ConfigurableProp[];
}

export const WORKSPACE = 'o_test';
export const SOURCE = 'dc_test';

/** Address of an endpoint by its key. */
export const endpointUrl = (key: string): string => `http://127.0.0.1:3000/h/${key}`;

const accountId = (prop: string): string => `apn_${prop}`;
/** Id of the data store of a prop, in the form that a process may name. */
export const storeId = (prop: string): string => `ds_${hash('sha256', prop, 'hex').slice(0, 18)}`;

/** Plans the props as a deployment does, and binds them as a runner does. Throws DomainError for a wrong one. */
export const bindProps = async (request: PropsRequest): Promise<BoundProps> => {
  const { metadata, state, now, mayLackProps, dynamicProps = [] } = request;
  const { props = {}, accounts = {}, stores = {} } = state;
  const all = withDynamicProps(metadata.configurableProps, dynamicProps);
  const declared = all.map((prop) => (mayLackProps ? { ...prop, optional: true } : prop));
  let made = 0;
  const plan = planProps({
    props: declared,
    componentWarnings: metadata.warnings,
    given: { ...accountsIn(declared, accounts), ...storesIn(declared, stores), ...props },
    appOf: (id) => declared.find(({ name }) => accountId(name) === id)?.app ?? '',
    now,
    newEndpointKey: () => `etest${++made}`,
    newSecretRef: () => `sec_${++made}`,
  });
  const definition: SourceDefinition = {
    componentId: 'sc_test',
    componentKey: metadata.key,
    bundleHash: '',
    props: plan.props,
    ...(dynamicProps.length === 0 ? {} : { dynamicProps }),
    hooks: metadata.hooks,
    dedupe: metadata.dedupe,
    emitOnDeploy: true,
  };
  const binder = propBinder({ get: () => Promise.resolve(undefined) }, endpointUrl, boundValue, {
    versionOf: () => undefined,
    freshen: () => undefined,
    authOf: (id) => Promise.resolve(accounts[id.slice(accountId('').length)] ?? {}),
  });
  const texts = new Map(plan.secrets.map(({ ref, text }) => [ref, text]));
  const bound = await binder.bind(WORKSPACE, definition, texts);
  const warnings = [...metadata.warnings, ...plan.warnings].map(({ message }) => message);
  return { definition, bound, secrets: secretsOf(definition, bound), warnings };
};

const accountsIn = (
  declared: readonly ConfigurableProp[],
  accounts: NonNullable<GivenState['accounts']>,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(accounts).map((name) => {
      checkDeclared(declared, name, 'app', 'accounts');
      return [name, { authProvisionId: accountId(name) }];
    }),
  );

/** Every data store of the component exists, also one that nothing was given for. */
const storesIn = (
  declared: readonly ConfigurableProp[],
  stores: NonNullable<GivenState['stores']>,
): Record<string, unknown> => {
  for (const name of Object.keys(stores)) checkDeclared(declared, name, 'data_store', 'stores');
  return Object.fromEntries(
    declared.flatMap(({ name, type }) => (type === 'data_store' ? [[name, storeId(name)]] : [])),
  );
};

const checkDeclared = (declared: readonly ConfigurableProp[], name: string, type: string, field: string): void => {
  if (declared.some((prop) => prop.name === name && prop.type === type)) return;
  const names = declared.flatMap((prop) => (prop.type === type ? [prop.name] : []));
  const known =
    names.length === 0 ? `it has no prop of type ${type}` : `its props of type ${type}: ${names.join(', ')}`;
  throw new TypeError(`${field}.${name}: the component has no such prop; ${known}`);
};
