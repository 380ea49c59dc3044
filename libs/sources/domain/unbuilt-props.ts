import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Warning } from '#libs/kernel/warning.js';
import { shown } from './prop-error.js';

/** Refuses what cannot work, because it is not built yet (docs/reference/component-model.md#not-built-props). */
const notBuilt = ({ name, type }: ConfigurableProp, message: string): DomainError =>
  new DomainError('source.invalid_prop', `prop ${name} (${type}): ${message}`, { prop: name, expected: 'none', type });

/** Throws source.invalid_prop for a value that nothing stands behind: an account. */
export const checkBuilt = (prop: ConfigurableProp, value: unknown): void => {
  if (prop.type !== 'app' || typeof value !== 'object' || value === null || !('authProvisionId' in value)) return;
  const account = shown(value.authProvisionId);
  throw notBuilt(
    prop,
    `there is no account ${account}, because accounts are not built yet: leave the prop out, and give the token in a prop of type string with secret: true`,
  );
};

const INTERFACES: readonly string[] = ['$.interface.http', '$.interface.timer'];

/** Throws source.invalid_prop for a component whose only events would come from an app, which sends none yet. */
export const checkHasEvents = (props: readonly ConfigurableProp[]): void => {
  const hook = props.find(({ type }) => type === '$.interface.apphook');
  if (!hook || props.some(({ type }) => INTERFACES.includes(type))) return;
  throw notBuilt(
    hook,
    'events of apps are not built yet, so this source would never receive one: use a prop of type $.interface.http or $.interface.timer',
  );
};

const IGNORED: Readonly<Record<string, string>> = {
  app: 'accounts are not built yet: $auth of this prop is an empty object, so $auth.api_key is undefined. Take the token from a prop of type string with secret: true',
  '$.interface.apphook': 'events of apps are not built yet: it receives none',
};

/** Warnings about props that a component declares and that are not built yet, but may do without. */
export const unbuiltWarnings = (props: readonly ConfigurableProp[]): readonly Warning[] =>
  props.flatMap(({ name, type }) => {
    const message = Object.hasOwn(IGNORED, type) ? IGNORED[type] : undefined;
    return message === undefined
      ? []
      : [{ code: 'not_built', message: `prop ${name} (${type}): ${message}`, path: `props.${name}` }];
  });
