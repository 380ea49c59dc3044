import { type Fields, fieldText, isFields, textOf } from './json.js';
import { type Line, type Part } from './text.js';

export const isError = (observation: Fields): boolean => isFields(observation['err']) || observation['k'] === 'error';

/** What code logged or threw, or the hook that ran. */
export const observationLine = (observation: Fields): Line => {
  const { err, msg, k, h } = observation;
  if (!isFields(err)) return [{ text: textOf(k), as: 'dim' }, ` ${textOf(msg ?? h)}`];
  const name: Part = { text: fieldText(err, 'name') || 'Error', as: 'bad' };
  const [place] = /^\s*at .*$/m.exec(fieldText(err, 'stack')) ?? [];
  return [name, ` ${fieldText(err, 'message')}`, ...(place === undefined ? [] : [` ${place.trim()}`])];
};

/** The same without tones. */
export const observationText = (observation: Fields): string => {
  const line = observationLine(observation);
  return typeof line === 'string' ? line : line.map((part) => (typeof part === 'string' ? part : part.text)).join('');
};
