import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { type AccountsOf, isAsked, type ToolAction } from './action-schema.js';
import { type Failure } from './tool-reply.js';

type Json = Readonly<Record<string, unknown>>;

/** Name of the failure of wrong arguments. */
export const INVALID_ARGUMENTS = 'InvalidArguments';
/** Of the arguments that a message lists. */
const MAX_LISTED = 30;

/**
 * The configured props of a run, from the arguments of a call. The planning of the run checks their types. An argument
 * that the schema does not have is refused, so that no call sets a hidden prop. So is an account that is none of the
 * prop's, because a form takes any account of the workspace, whichever app it belongs to.
 */
export const configuredProps = (
  action: ToolAction,
  given: Json,
  accountsOf: AccountsOf,
): { readonly props: Json } | { readonly failure: Failure } => {
  const byName = new Map(action.configurableProps.map((prop) => [prop.name, prop]));
  const isOpen = (name: string): boolean => {
    const prop = byName.get(name);
    return prop ? isAsked(prop, accountsOf) : action.hasAdditionalProps;
  };
  const refused = Object.keys(given).find((name) => !isOpen(name));
  if (refused !== undefined) return { failure: unknownArgument(refused, action, accountsOf) };
  const foreign = Object.entries(given).flatMap(([name, value]) => foreignAccount(byName.get(name), value, accountsOf));
  if (foreign[0] !== undefined) return { failure: foreign[0] };
  const accounts = action.configurableProps.flatMap((prop) => theOneAccount(prop, accountsOf));
  const values = Object.entries(given).map(([name, value]) => [name, valueOf(byName.get(name), value)] as const);
  return { props: Object.fromEntries([...accounts, ...values]) };
};

/** An id of an account stands for the account. Anything else is left for the planning to refuse. */
const valueOf = (prop: ConfigurableProp | undefined, value: unknown): unknown =>
  prop?.type === 'app' && typeof value === 'string' ? { authProvisionId: value } : value;

/** The account that the value of an argument names, by its id alone or as a configured prop does. */
export const accountIn = (prop: ConfigurableProp | undefined, value: unknown): string | undefined => {
  if (typeof value === 'string') return prop?.type === 'app' ? value : undefined;
  if (typeof value !== 'object' || value === null || !('authProvisionId' in value)) return undefined;
  return typeof value.authProvisionId === 'string' ? value.authProvisionId : undefined;
};

const foreignAccount = (
  prop: ConfigurableProp | undefined,
  value: unknown,
  accountsOf: AccountsOf,
): readonly Failure[] => {
  const id = prop?.type === 'app' ? accountIn(prop, value) : undefined;
  if (prop === undefined || id === undefined) return [];
  const own = accountsOf(prop);
  if (own.includes(id)) return [];
  const listed = own.slice(0, MAX_LISTED).join(', ');
  const more = own.length > MAX_LISTED ? `, and ${own.length - MAX_LISTED} more` : '';
  const message = `argument ${prop.name} must be one of ${listed}${more}; got ${JSON.stringify(id.slice(0, 100))}`;
  return [{ name: INVALID_ARGUMENTS, message }];
};

const theOneAccount = (prop: ConfigurableProp, accountsOf: AccountsOf): readonly (readonly [string, unknown])[] => {
  if (prop.type !== 'app') return [];
  const [account, ...others] = accountsOf(prop);
  return account === undefined || others.length > 0 ? [] : [[prop.name, { authProvisionId: account }]];
};

const unknownArgument = (name: string, { configurableProps }: ToolAction, accountsOf: AccountsOf): Failure => {
  const asked = configurableProps.filter((prop) => isAsked(prop, accountsOf)).map((prop) => prop.name);
  const more = asked.length > MAX_LISTED ? `, and ${asked.length - MAX_LISTED} more` : '';
  const listed = asked.length === 0 ? 'the tool takes none' : `give ${asked.slice(0, MAX_LISTED).join(', ')}${more}`;
  return { name: INVALID_ARGUMENTS, message: `there is no argument ${JSON.stringify(name.slice(0, 100))}: ${listed}` };
};
