import { askAccount, askStore } from './ask-resource.js';
import { DONE, type Option, optionsIn, OptionSearch, type RemoteOptions } from './ask-options.js';
import { askTimer } from './ask-timer.js';
import { type Context } from './context.js';
import { exactly, type Fields, fieldText, textOf } from './json.js';
import { labelOf } from './prop-form.js';
import { type Choice, type Prompts } from './prompts.js';
import { type Session } from './session.js';
import { harmless } from './text.js';

/** What a prop is asked with. */
export interface Asking {
  readonly context: Context;
  readonly prompts: Prompts;
  readonly session: Session;
  /** Options that the component has for the prop with the values so far. Rejects with CommandFailure. */
  readonly optionsOf: (prop: Fields) => RemoteOptions;
  /** The value that the prop has without an answer. */
  readonly former: unknown;
}

/** Resolves with the value that a person gives a prop, by its type. Undefined for none. */
export const askProp = async (asking: Asking, prop: Fields): Promise<unknown> => {
  const type = fieldText(prop, 'type');
  const message = messageOf(prop);
  describe(asking, prop);
  if (type === 'app') return askAccount(asking, message, fieldText(prop, 'app'));
  if (type === 'data_store') return askStore(asking, message);
  if (type === '$.interface.timer') return askTimer(asking, message, asking.former);
  if (prop['remoteOptions'] === true || Array.isArray(prop['options'])) {
    const chosen = await chosenOf(asking, prop, message);
    if (chosen !== NO_OPTIONS) return chosen;
  }
  return typed(asking, prop, message);
};

const messageOf = (prop: Fields): string =>
  `${labelOf(prop).slice(0, 200)}${prop['optional'] === true ? ' (optional)' : ''}`;

const describe = ({ context }: Asking, prop: Fields): void => {
  const description = fieldText(prop, 'description').trim();
  if (description !== '' && fieldText(prop, 'label') !== '') context.io.err(`  ${harmless(description.slice(0, 500))}`);
};

const NO_OPTIONS = Symbol('no options');

/** Beyond these, the choices are searched and not only listed. */
const MOST_LISTED = 10;

const chosenOf = async (asking: Asking, prop: Fields, message: string): Promise<unknown> => {
  const { prompts, context } = asking;
  const isList = fieldText(prop, 'type').endsWith('[]');
  const fixed = optionsIn(prop['options']);
  if (prop['remoteOptions'] !== true && isList && fixed.length > 0) {
    const values = await prompts.check(message, listed(fixed));
    return values.map((at) => valueOf(prop, fixed[Number(at)]));
  }
  if (prop['remoteOptions'] !== true && fixed.length > 0 && fixed.length <= MOST_LISTED) {
    const choices = [...listed(fixed), ...none(prop)];
    return valueOf(prop, fixed[Number(await prompts.choose(message, choices))]);
  }
  try {
    const remote = prop['remoteOptions'] === true ? asking.optionsOf(prop) : ofList(fixed);
    const search = await OptionSearch.open(remote);
    if (search === undefined) context.io.err('  The component offers no options.');
    else return await (isList ? several(prompts, search, prop, message) : one(prompts, search, prop, message));
  } catch (error) {
    if (!(error instanceof OptionsFailed)) throw error;
    context.io.err(`  The options cannot be read: ${harmless(error.message)}`);
  }
  return NO_OPTIONS;
};

/** The component threw. */
export class OptionsFailed extends Error {}

const listed = (options: readonly Option[]): readonly Choice[] =>
  options.map(({ label }, at) => ({ name: label, value: String(at) }));

const none = (prop: Fields): readonly Choice[] => (prop['optional'] === true ? [{ name: '(none)', value: DONE }] : []);

const ofList = (options: readonly Option[]): RemoteOptions => ({
  usesQuery: false,
  read: ({ page }) => Promise.resolve({ options: page === 0 ? options : [], context: {} }),
});

const one = async (prompts: Prompts, search: OptionSearch, prop: Fields, message: string): Promise<unknown> => {
  const chosen = await search.choose(prompts, message, none(prop));
  return typeof chosen === 'string' ? undefined : valueOf(prop, chosen);
};

const several = async (prompts: Prompts, search: OptionSearch, prop: Fields, message: string): Promise<unknown> => {
  const chosen: Option[] = [];
  for (;;) {
    const shown = chosen.length === 0 ? message : `${message} (${chosen.map(({ label }) => label).join(', ')})`;
    const next = await search.choose(prompts, shown, [{ name: '(no more)', value: DONE }]);
    if (typeof next === 'string') return chosen.map((option) => valueOf(prop, option));
    if (!chosen.includes(next)) chosen.push(next);
  }
};

/** With its label where the component wants it (docs/reference/component-model.md#prop-label). */
const valueOf = (prop: Fields, option: Option | undefined): unknown => {
  if (option === undefined) return undefined;
  return prop['withLabel'] === true ? { __lv: { label: option.label, value: option.value } } : option.value;
};

/** A value that is typed. */
const typed = async (asking: Asking, prop: Fields, message: string): Promise<unknown> => {
  const { prompts, former } = asking;
  const type = fieldText(prop, 'type');
  if (type === 'boolean') {
    const yes = { name: 'yes', value: 'true' };
    const no = { name: 'no', value: 'false' };
    return (await prompts.choose(message, former === true ? [yes, no] : [no, yes])) === 'true';
  }
  if (type === 'string' && prop['secret'] === true) return given(await prompts.secret(message));
  if (type.endsWith('[]')) return items(prompts, message);
  const initial = former === undefined || former === null ? '' : textOf(former);
  if (JSON_TYPES.has(type)) return json(asking, `${message} (JSON)`, initial, type);
  return given(await prompts.text(message, initial));
};

const JSON_TYPES: ReadonlySet<string> = new Set(['object', 'any', 'sql', 'http_request']);

const given = (text: string): string | undefined => (text === '' ? undefined : text);

const items = async (prompts: Prompts, message: string): Promise<readonly string[] | undefined> => {
  const values: string[] = [];
  for (;;) {
    const value = await prompts.text(`${message} (${values.length + 1}, empty to end)`, '');
    if (value === '') return values.length === 0 ? undefined : values;
    values.push(value);
  }
};

const json = async ({ prompts, context }: Asking, message: string, initial: string, type: string): Promise<unknown> => {
  for (;;) {
    const text = await prompts.text(message, initial);
    if (text === '') return undefined;
    try {
      return exactly(text);
    } catch {
      // Any JSON includes a text, which people type without quotes.
      if (type === 'any' || type === 'sql') return text;
      context.io.err('  That is no JSON.');
    }
  }
};
