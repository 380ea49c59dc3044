import { MAX_NESTING, nestsTooDeep } from '#libs/framing/json-text.js';
import { messageOf } from '#libs/kernel/error-message.js';

/** JSON text of a value. Throws, naming the operation, when the value has none. `code` is of the error of a deep one. */
export const jsonOf = (value: unknown, what: string, code?: string): string => {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new Error(`${what}: the value cannot be written as JSON: ${messageOf(error)}`, {
      cause: error,
    });
  }
  if (text === undefined) throw new Error(`${what}: a ${typeof value} cannot be written as JSON`);
  return shallowEnough(text, what, code);
};

export const shallowEnough = (text: string, what: string, code?: string): string => {
  if (!nestsTooDeep(text)) return text;
  const error = new Error(`${what}: the value nests more than ${MAX_NESTING} levels deep`);
  throw code === undefined ? error : limitError(code, error.message);
};

export const limitError = (code: string, message: string): Error => Object.assign(new Error(message), { code });
