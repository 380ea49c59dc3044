import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { nearMiss } from '#libs/kernel/near-miss.js';
import { type Warning } from '#libs/kernel/warning.js';
import { isLabelAndValue, unlabelled } from './bound-value.js';
import { shown } from './prop-error.js';

/** Unknown keys that are compared, because each comparison takes time, and names of props in a text. */
const MOST_COMPARED = 50;
const MOST_NAMED = 20;

/** An unknown key of `configured_props`, with the prop that it probably stands for. */
export interface MisspeltKey {
  readonly given: string;
  readonly meant: string;
}

/** Finds the misspelt keys of `configured_props`. A key is not misspelt when the prop itself is given too. */
export const misspeltKeys = (
  given: Readonly<Record<string, unknown>>,
  props: readonly ConfigurableProp[],
): readonly MisspeltKey[] => {
  const names = new Set(props.map(({ name }) => name));
  return Object.keys(given)
    .filter((key) => !names.has(key))
    .slice(0, MOST_COMPARED)
    .flatMap((key) => {
      const meant = nearMiss(key, names);
      return meant === undefined || Object.hasOwn(given, meant) ? [] : [{ given: key, meant }];
    });
};

export const misspeltWarning = ({ given, meant }: MisspeltKey, props: readonly ConfigurableProp[]): Warning => ({
  code: 'unknown_prop',
  message: `configured_props.${given} is ignored, because the component has no such prop; did you mean ${meant}? ${allowedIn(props)}`,
  path: `configured_props.${given}`,
});

export const allowedIn = (props: readonly ConfigurableProp[]): string => {
  const names = props.map(({ name }) => name);
  const more = names.length - MOST_NAMED;
  return `Its props are ${names.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
};

/**
 * Warns about a value that is not among the prop's options. It is accepted, because the list is only an offer for forms
 * (docs/reference/rest-api.md#configured-props-types).
 */
export const optionWarnings = (prop: ConfigurableProp, value: unknown): readonly Warning[] => {
  const { name, options } = prop;
  if (prop.secret === true || options === undefined || options.length === 0 || prop.remoteOptions === true) return [];
  const bare = unlabelled(value);
  const known = new Set(options.map((option) => String(isLabelAndValue(option) ? option.value : option)));
  const others = (Array.isArray(bare) ? bare : [bare]).filter(
    (one: unknown) => isScalar(one) && !known.has(String(one)),
  );
  const [first] = others as readonly unknown[];
  if (first === undefined) return [];
  const meant = typeof first === 'string' ? nearMiss(first, known) : undefined;
  const offered = [...known];
  const list = offered.slice(0, MOST_NAMED).map(shown).join(', ');
  const more = offered.length > MOST_NAMED ? ` and ${offered.length - MOST_NAMED} more` : '';
  return [
    {
      code: 'not_an_option',
      message: `prop ${name} got ${shown(first)}, which is none of its options${meant === undefined ? '' : `; did you mean ${shown(meant)}?`}: ${list}${more}`,
      path: `configured_props.${name}`,
    },
  ];
};

const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);
