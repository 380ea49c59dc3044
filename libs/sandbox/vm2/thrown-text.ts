import { types } from 'node:util';

export interface ThrownText {
  readonly name: string;
  readonly message: string;
}

const UNREADABLE = 'the component threw something that cannot be read from outside of the realm';

/**
 * Reads name and message of a value thrown in the realm without running code of the realm: no getter, no proxy trap, no
 * inspect. Information available only through them is left out.
 */
export const thrownText = (thrown: unknown): ThrownText => {
  if (typeof thrown === 'string') return { name: 'Error', message: thrown };
  if (typeof thrown !== 'object' || thrown === null)
    return { name: 'Error', message: typeof thrown === 'function' ? UNREADABLE : String(thrown) };
  const message = ownOrInherited(thrown, 'message');
  return message === undefined
    ? { name: 'Error', message: UNREADABLE }
    : { name: ownOrInherited(thrown, 'name') ?? 'Error', message };
};

const MAX_DEPTH = 10;

const ownOrInherited = (thrown: object, key: string): string | undefined => {
  let at: object | null = thrown;
  for (let depth = 0; at !== null && depth < MAX_DEPTH; depth++) {
    if (types.isProxy(at)) return undefined;
    const descriptor = Reflect.getOwnPropertyDescriptor(at, key);
    if (descriptor) return typeof descriptor.value === 'string' ? descriptor.value : undefined;
    at = Reflect.getPrototypeOf(at);
  }
  return undefined;
};
