import {
  type ComponentMetadata,
  type ConfigurableProp,
  type OptionWithLabel,
} from '#libs/component-model/component-metadata.js';
import { OPTIONS_TOOL } from './tool-names.js';

export type JsonSchema = Readonly<Record<string, unknown>>;

export type ToolAction = Pick<ComponentMetadata, 'configurableProps' | 'hasAdditionalProps'>;

/** Ids of the accounts of the workspace that belong to the app of a prop. */
export type AccountsOf = (prop: ConfigurableProp) => readonly string[];

/** A prop whose value a call may give. */
export const isAsked = (prop: ConfigurableProp, accountsOf: AccountsOf): boolean => {
  if (prop.secret === true || prop.hidden === true || prop.disabled === true) return false;
  switch (prop.type) {
    case 'alert':
    case 'dir':
    case '$.service.db':
      return false;
    case 'app':
      // With one account there is nothing to choose.
      return accountsOf(prop).length > 1;
    default:
      return true;
  }
};

/** A secret is never an argument, so an action that needs one cannot be called as a tool. */
export const needsSecret = ({ configurableProps }: ToolAction): boolean =>
  configurableProps.some((prop) => prop.secret === true && isNeeded(prop));

/** Whether the tool for options answers for a prop of the action. */
export const hasAskedOptions = ({ configurableProps }: ToolAction, accountsOf: AccountsOf): boolean =>
  configurableProps.some((prop) => hasRemoteOptions(prop) && isAsked(prop, accountsOf));

/** JSON Schema of the arguments of an action. */
export const actionSchema = (action: ToolAction, accountsOf: AccountsOf): JsonSchema => {
  const asked = action.configurableProps.filter((prop) => isAsked(prop, accountsOf));
  const required = asked.filter(isNeeded).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(asked.map((prop) => [prop.name, propSchema(prop, accountsOf)])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: action.hasAdditionalProps,
  };
};

/** As in the planning of a run: a default of null is none, and nobody can fill in a hidden or disabled prop. */
const isNeeded = ({ optional, hidden, disabled, default: preset }: ConfigurableProp): boolean =>
  optional !== true && hidden !== true && disabled !== true && (preset === undefined || preset === null);

/** Whether a method of the action makes the options of the prop. */
export const hasRemoteOptions = ({ type, remoteOptions }: ConfigurableProp): boolean =>
  remoteOptions === true && type !== 'app';

const propSchema = (prop: ConfigurableProp, accountsOf: AccountsOf): JsonSchema => {
  const { label, default: preset } = prop;
  const description = descriptionOf(prop);
  return {
    ...valueSchema(prop, accountsOf),
    ...(label === undefined ? {} : { title: label }),
    ...(description === '' ? {} : { description }),
    ...(preset === undefined ? {} : { default: preset }),
  };
};

const valueSchema = (prop: ConfigurableProp, accountsOf: AccountsOf): JsonSchema => {
  if (prop.type === 'app') return { type: 'string', enum: accountsOf(prop) };
  const choice = choiceOf(prop);
  if (!prop.type.endsWith('[]')) return { ...typeSchema(prop.type, prop), ...choice };
  return { type: 'array', items: { ...typeSchema(prop.type.slice(0, -2), prop), ...choice } };
};

/** The types are those that the planning of a run accepts. An unknown word counts as `any`. */
const typeSchema = (type: string, { min, max }: ConfigurableProp): JsonSchema => {
  switch (type) {
    case 'string':
    case 'data_store':
      return { type: 'string' };
    case 'boolean':
      return { type: 'boolean' };
    case 'integer':
      return {
        type: 'integer',
        ...(min === undefined ? {} : { minimum: min }),
        ...(max === undefined ? {} : { maximum: max }),
      };
    case 'object':
    case 'http_request':
    case 'sql':
      return { type: 'object' };
    default:
      return type.startsWith('$.') ? { type: 'string' } : {};
  }
};

const choiceOf = ({ options }: ConfigurableProp): JsonSchema => {
  if (options === undefined || options.length === 0) return {};
  const distinct = new Map(options.map((option) => [JSON.stringify(valueOf(option)), valueOf(option)]));
  return { enum: [...distinct.values()] };
};

const descriptionOf = (prop: ConfigurableProp): string => {
  const labelled = (prop.options ?? []).filter(isLabelled).filter(({ label, value }) => label !== String(value));
  const meanings = labelled.map(({ label, value }) => `${JSON.stringify(value)}: ${label}`);
  return [
    prop.description ?? '',
    meanings.length === 0 ? '' : `Meanings: ${meanings.join('; ')}`,
    hasRemoteOptions(prop) ? `Values: tool ${OPTIONS_TOOL}` : '',
  ]
    .filter(Boolean)
    .join('\n');
};

type Option = NonNullable<ConfigurableProp['options']>[number];

const isLabelled = (option: Option): option is OptionWithLabel => typeof option === 'object';

const valueOf = (option: Option): unknown => (isLabelled(option) ? option.value : option);
