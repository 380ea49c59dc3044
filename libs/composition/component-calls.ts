import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { type ComponentCalls } from '#libs/components/index.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type ComponentCaller } from '#libs/sandbox/component-caller.js';
import { parseProps } from '#libs/sandbox/protocol/metadata-validation.js';
import { ProtocolBreach } from '#libs/sandbox/protocol/protocol.js';
import { type BoundProp } from '#libs/sandbox/sandbox.js';

/** Calls of components from stored bundles, with values bound by the type of their prop. */
export const componentCalls = (caller: ComponentCaller, blobs: Pick<BlobStore, 'fileOf'>): ComponentCalls => ({
  call: async ({ workspaceId, bundleHash, props, dynamicProps, values, secrets, call }) =>
    caller.call({
      workspaceId,
      bundleFile: await blobs.fileOf(bundleHash),
      props: boundProps(props, values),
      dynamicProps,
      secrets,
      call,
    }),
  propsIn: (answer) => {
    try {
      return parseProps(answer);
    } catch (error) {
      if (error instanceof ProtocolBreach) return undefined;
      throw error;
    }
  },
});

/** Values of a form may be missing or wrong, so they are bound as they are, and checked at the deployment. */
export const boundProps = (
  props: readonly ConfigurableProp[],
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, BoundProp>> =>
  Object.fromEntries(
    props.flatMap((prop): readonly (readonly [string, BoundProp])[] => {
      const given = Object.hasOwn(values, prop.name) ? values[prop.name] : undefined;
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
    case 'app':
      return { kind: 'app', auth: {} };
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
