import { inspect } from 'node:util';
import { TEXT_LIMITS, type ErrorText } from '../protocol/protocol.js';

const cut = (text: unknown, max: number): string => (typeof text === 'string' ? text.slice(0, max) : '');

/** Describes a thrown value as text. Never throws, even when the value has throwing getters. */
export const textOfError = (thrown: unknown): ErrorText => {
  try {
    return describe(thrown);
  } catch {
    return { name: 'Error', message: 'the component threw something that cannot be read', stack: '', code: 'Error' };
  }
};

const describe = (thrown: unknown): ErrorText => {
  if (typeof thrown !== 'object' || thrown === null) {
    const message = typeof thrown === 'string' ? thrown : inspect(thrown);
    return { name: 'Error', message: cut(message, TEXT_LIMITS.message), stack: '', code: 'Error' };
  }
  const error = thrown as { name?: unknown; message?: unknown; stack?: unknown; code?: unknown };
  const name = typeof error.name === 'string' && error.name !== '' ? error.name : 'Error';
  const code = typeof error.code === 'string' && error.code !== '' ? error.code : name;
  const message = typeof error.message === 'string' ? error.message : inspect(thrown, { depth: 2 });
  return {
    name: cut(name, TEXT_LIMITS.name),
    message: cut(message, TEXT_LIMITS.message),
    stack: cut(error.stack, TEXT_LIMITS.stack),
    code: cut(code, TEXT_LIMITS.name),
  };
};
