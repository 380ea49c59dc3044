import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { nearMiss } from '#libs/kernel/near-miss.js';
import { type Warning } from '#libs/kernel/warning.js';
import { allowedIn, MOST_COMPARED } from './given-props.js';
import { shown } from './prop-error.js';

/** Refuses what cannot work, because it is not built yet (docs/reference/component-model.md#not-built-props). */
const notBuilt = ({ name, type }: ConfigurableProp, message: string): DomainError =>
  new DomainError('source.invalid_prop', `prop ${name} (${type}): ${message}`, { prop: name, expected: 'none', type });

/** Throws source.invalid_prop for a value that nothing stands behind: a data store. */
export const checkBuilt = (prop: ConfigurableProp): void => {
  if (prop.type === 'data_store') throw dataStore(prop);
};

/** Throws source.invalid_prop for a required prop that no value could ever fill. */
export const checkCanBeFilled = (prop: ConfigurableProp): void => {
  if (prop.type === 'data_store') throw dataStore(prop);
};

const dataStore = (prop: ConfigurableProp): DomainError =>
  notBuilt(
    prop,
    prop.optional === true
      ? 'data stores are not built yet: leave the prop out, or keep the data in $.service.db'
      : 'data stores are not built yet: keep the data in $.service.db, or make the prop optional and leave it out',
  );

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

/**
 * Throws source.invalid_prop for a value of a prop that only additionalProps could declare. A prop with `reloadProps`
 * shows that the component has them.
 */
export const checkOwnProps = (given: Readonly<Record<string, unknown>>, props: readonly ConfigurableProp[]): void => {
  if (!props.some(({ reloadProps }) => reloadProps === true)) return;
  const names = new Set(props.map(({ name }) => name));
  let compared = 0;
  const isOther = (key: string): boolean => ++compared > MOST_COMPARED || nearMiss(key, names) === undefined;
  const other = Object.keys(given).find((key) => !names.has(key) && isOther(key));
  if (other === undefined) return;
  throw new DomainError(
    'source.invalid_prop',
    `prop ${shown(other)}: the component has no such prop of its own, and props of additionalProps are not built yet: leave it out. ${allowedIn(props)}`,
    { prop: other.slice(0, 256), expected: 'none' },
  );
};

const IGNORED: Readonly<Record<string, string>> = {
  '$.interface.apphook': 'events of apps are not built yet: it receives none',
  dir: 'dir props are not built yet: this prop is not on `this`',
  sql: 'sql props are not built yet: it is its configured value, and cannot query',
  http_request: 'execute() is not built yet: the prop is its configured value, and execute() throws',
};

/** Warnings about props that a component declares and that are not built yet, but may do without. */
export const unbuiltWarnings = (props: readonly ConfigurableProp[]): readonly Warning[] =>
  props.flatMap(({ name, type, reloadProps }) => {
    const message = Object.hasOwn(IGNORED, type) ? IGNORED[type] : reloadProps === true ? ADDITIONAL : undefined;
    return message === undefined
      ? []
      : [{ code: 'not_built', message: `prop ${name} (${type}): ${message}`, path: `props.${name}` }];
  });

const ADDITIONAL = 'additionalProps are not built yet: no prop is added for this value';
