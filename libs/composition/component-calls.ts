import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { type ComponentCalls } from '#libs/components/index.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type InstallPackages } from '#libs/runner/packages-beside.js';
import { type AccountAuths } from '#libs/runner/runner-ports.js';
import { textsIn } from '#libs/runner/outcome/prop-secrets.js';
import { type ComponentCaller, parseProps, type BoundProp } from '#libs/sandbox/index.js';
import { ProtocolBreach } from '#libs/framing/records.js';
import { accountIdOf } from '#libs/sources/published.js';

/** Calls of components from stored bundles, with values bound by the type of their prop. */
export const componentCalls = (
  caller: ComponentCaller,
  blobs: Pick<BlobStore, 'fileOf'>,
  accounts: Pick<AccountAuths, 'authOf' | 'versionOf'>,
  install: InstallPackages,
): ComponentCalls => ({
  call: async ({ workspaceId, bundleHash, packages, props, dynamicProps, values, secrets, call }) => {
    const auths = await authsIn(props, values, (id) => accounts.authOf(id, workspaceId));
    return caller.call({
      workspaceId,
      bundle: { hash: bundleHash, file: () => blobs.fileOf(bundleHash) },
      ...(packages === undefined ? {} : { packages: () => install(workspaceId, packages) }),
      props: boundProps(props, values, auths),
      dynamicProps,
      secrets: [...secrets, ...[...auths.values()].flatMap(textsIn)],
      call,
    });
  },
  unknownAccountIn: (value, workspaceId) => {
    const id = accountIdOf(value);
    return id === undefined || accounts.versionOf(id, workspaceId) !== undefined ? undefined : id;
  },
  propsIn: (answer) => {
    try {
      return parseProps(answer);
    } catch (error) {
      if (error instanceof ProtocolBreach) return undefined;
      throw error;
    }
  },
});

/** `$auth` by the name of its prop. */
type Auths = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

const authsIn = async (
  props: readonly ConfigurableProp[],
  values: Readonly<Record<string, unknown>>,
  authOf: (accountId: string) => ReturnType<AccountAuths['authOf']>,
): Promise<Auths> => {
  const auths = new Map<string, Readonly<Record<string, unknown>>>();
  for (const { name, type } of props) {
    if (type !== 'app' || !Object.hasOwn(values, name)) continue;
    const id = accountIdOf(values[name]);
    if (id !== undefined) auths.set(name, await authOf(id));
  }
  return auths;
};

/** Values of a form may be missing or wrong, so they are bound unchecked. The deployment checks them. */
export const boundProps = (
  props: readonly ConfigurableProp[],
  values: Readonly<Record<string, unknown>>,
  auths: Auths = new Map(),
): Readonly<Record<string, BoundProp>> =>
  Object.fromEntries(
    props.flatMap((prop): readonly (readonly [string, BoundProp])[] => {
      const given = Object.hasOwn(values, prop.name) ? values[prop.name] : undefined;
      if (prop.type === 'app') return [[prop.name, { kind: 'app', auth: auths.get(prop.name) ?? {} }]];
      const bound = boundProp(prop, given ?? prop.default);
      return bound === undefined ? [] : [[prop.name, bound]];
    }),
  );

const boundProp = ({ type, static: fixed }: ConfigurableProp, value: unknown): BoundProp | undefined => {
  switch (type) {
    case '$.interface.http':
      // The endpoint does not exist before the deployment.
      return { kind: 'http', endpoint: '' };
    case '$.interface.timer':
      return timerOf(fixed ?? value);
    case '$.service.db':
      return { kind: 'db' };
    case '$.interface.apphook':
    case 'alert':
    case 'dir':
      return undefined;
    default:
      return value === undefined || value === null ? undefined : { kind: 'value', value };
  }
};

const timerOf = (value: unknown): BoundProp => {
  const given = new Map<string, unknown>(typeof value === 'object' && value !== null ? Object.entries(value) : []);
  const seconds = given.get('intervalSeconds') ?? given.get('interval_seconds');
  const cron = given.get('cron');
  return {
    kind: 'timer',
    intervalSeconds: typeof seconds === 'number' ? seconds : null,
    cron: typeof cron === 'string' ? cron : null,
  };
};
