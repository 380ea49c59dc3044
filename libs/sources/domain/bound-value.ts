import { type ValueProp } from '../published.js';

/** `{__lv: {label, value}}`, or a list under `__lv`. See docs/reference/rest-api.md#configured-label. */
export interface Labelled {
  readonly __lv: unknown;
}

export const isLabelled = (value: unknown): value is Labelled =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, '__lv');

interface LabelAndValue {
  readonly label?: unknown;
  readonly value: unknown;
}

export const isLabelAndValue = (value: unknown): value is LabelAndValue =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, 'value');

const plain = (value: unknown): unknown => (isLabelAndValue(value) ? value.value : value);

/** The value without its label, element by element. */
export const unlabelled = (value: unknown): unknown => {
  if (!isLabelled(value)) return value;
  return Array.isArray(value.__lv) ? value.__lv.map(plain) : plain(value.__lv);
};

/**
 * Value of `this.<prop>` in a run: `{label, value}` for a prop with `withLabel`, else the bare value. See
 * docs/reference/component-model.md#prop-label.
 */
export const boundValue = ({ value, withLabel }: ValueProp): unknown => {
  if (withLabel === true && isLabelled(value)) return value.__lv;
  return unlabelled(value);
};
