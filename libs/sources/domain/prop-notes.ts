import { DomainError } from '#libs/kernel/domain-error.js';
import { type Warning } from '#libs/kernel/warning.js';

const MOST_NOTES = 3;
const LONGEST_NOTE = 300;

/**
 * Adds the component's own warnings about a refused prop to the refusal, because a misspelt key such as `optinal` is
 * often its cause and the caller sees no warnings with an error (docs/reference/rest-api.md#configured-props-notes).
 */
export const withNotes = (error: unknown, warnings: readonly Warning[] = []): unknown => {
  if (!(error instanceof DomainError)) return error;
  const prop = error.details?.['prop'];
  if (typeof prop !== 'string') return error;
  const place = `props.${prop}`;
  const notes = warnings
    .filter(({ path }) => path === place || path.startsWith(`${place}.`))
    .slice(0, MOST_NOTES)
    .map(({ message }) => noteOf(message, prop));
  if (notes.length === 0) return error;
  const end = error.message.endsWith('.') ? '' : '.';
  return new DomainError(error.code, `${error.message}${end} Note: ${notes.join('. ')}`, error.details);
};

/** The message without the name of the prop, which the refusal has, and without the list of all allowed words. */
const noteOf = (message: string, prop: string): string => {
  const start = `prop ${JSON.stringify(prop)}: `;
  const text = message.startsWith(start) ? message.slice(start.length) : message;
  const list = text.indexOf('; allowed are ');
  const brief = list === -1 ? text : text.slice(0, list);
  return brief.length <= LONGEST_NOTE ? brief : `${brief.slice(0, LONGEST_NOTE).toWellFormed()}…`;
};
