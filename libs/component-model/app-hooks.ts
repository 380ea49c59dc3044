/** Props of type `$.interface.apphook` (docs/reference/component-model.md#apphooks). */
import { APP_EVENT_LIMITS } from './app-event-limits.js';
import { type ConfigurableProp } from './component-metadata.js';

export const APP_HOOK = '$.interface.apphook';

/** The app prop that an apphook names, whose `app` is the slug of the app. */
export const appPropOf = (
  { appProp }: ConfigurableProp,
  props: readonly ConfigurableProp[],
): (ConfigurableProp & { readonly app: string }) | undefined =>
  props.find(
    (prop): prop is ConfigurableProp & { readonly app: string } =>
      prop.name === appProp && prop.type === 'app' && prop.app !== undefined,
  );

const MOST_NAMED = 20;

/** Why a prop is an apphook that gets no event. Undefined for an apphook that names its app, and for any other prop. */
export const appHookFault = (hook: ConfigurableProp, props: readonly ConfigurableProp[]): string | undefined => {
  if (hook.type !== APP_HOOK || appPropOf(hook, props) !== undefined) return undefined;
  const apps = props.filter(({ type }) => type === 'app').map(({ name }) => name.slice(0, 100));
  const known = apps.length === 0 ? 'there is none' : `allowed are ${apps.slice(0, MOST_NAMED).join(', ')}`;
  const given = hook.appProp === undefined ? 'is missing' : `"${hook.appProp.slice(0, 100)}" is none`;
  return `prop "${hook.name.slice(0, 100)}": appProp must be the name of a prop of type app (${known}), and ${given}, so no event of an app starts run`;
};

/** Fault in a list of event names, as the end of a sentence. */
export const eventNamesFault = (names: readonly string[]): string | undefined => {
  const { names: most, nameLength } = APP_EVENT_LIMITS;
  if (names.length > most) return `${names.length} names, at most ${most} are allowed`;
  const wrong = names.findIndex((name) => name.length === 0 || name.length > nameLength || name.includes('\0'));
  if (wrong === -1) return undefined;
  const { length } = names[wrong] ?? '';
  return `a name that no event can have: entry ${wrong} has ${length} characters, allowed are 1 to ${nameLength} without NUL`;
};
