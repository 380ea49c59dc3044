import { DomainError } from '#libs/kernel/domain-error.js';

export const MOST_TOOLS = 200;

/** Of a name that a tool can have, and of a key of an action that can be such a name. */
const NAME = /^[A-Za-z0-9_-]{1,48}$/;

/** Checks the names that a key for tools only is to open. Throws request.invalid_parameter. */
export const namesOfTools = (names: readonly string[]): readonly string[] => {
  if (names.length === 0 || names.length > MOST_TOOLS) {
    throw invalid('tools', `must have 1 to ${MOST_TOOLS} names; got ${names.length}`, names.length);
  }
  const seen = new Map<string, number>();
  for (const [i, name] of names.entries()) {
    const field = `tools[${i}]`;
    const before = seen.get(name);
    if (!NAME.test(name)) {
      const must = 'must be the name of a tool, of 1 to 48 letters, digits, - and _';
      throw invalid(field, `${must}; got ${toldOf(name)}`, toldOf(name));
    }
    if (before !== undefined) throw invalid(field, `is ${name} again, as tools[${before}]: leave it out`, name);
    seen.set(name, i);
  }
  return names;
};

const toldOf = (name: string): string => {
  const shown = JSON.stringify(name.slice(0, 60));
  return name.length > 60 ? `${shown}… (${name.length} characters)` : shown;
};

const invalid = (field: string, why: string, actual: string | number): DomainError =>
  new DomainError('request.invalid_parameter', `parameter ${field} ${why}`, { field, actual });
