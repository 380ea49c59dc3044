import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Warning } from '#libs/kernel/warning.js';

/** Refuses what cannot work, because it is not built yet (docs/reference/component-model.md#not-built-props). */
const notBuilt = ({ name, type }: ConfigurableProp, message: string): DomainError =>
  new DomainError('source.invalid_prop', `prop ${name} (${type}): ${message}`, { prop: name, expected: 'none', type });

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
