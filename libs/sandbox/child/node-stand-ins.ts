/**
 * Stand-ins for parts of Node that packages use while they load (docs/reference/component-model.md#process-binding).
 */
import { constants as crypto } from 'node:crypto';
import { constants as fs } from 'node:fs';
import { METHODS } from 'node:http';
import { builtinModules } from 'node:module';
import { constants as os } from 'node:os';
import { getSystemErrorMap, getSystemErrorName, types } from 'node:util';
import { constants as zlib } from 'node:zlib';

const BINDINGS: Readonly<Record<string, () => object>> = {
  constants: () => ({ os: structuredClone(os), fs: { ...fs }, crypto: { ...crypto }, zlib: { ...zlib }, trace: {} }),
  util: () => ({ ...types }),
  http_parser: () => ({ methods: [...METHODS] }),
  // Their names only. The texts are Node's own code.
  natives: () => Object.fromEntries(builtinModules.map((name) => [name, ''])),
  uv: () => ({
    errname: getSystemErrorName,
    ...Object.fromEntries([...getSystemErrorMap()].map(([number, [name]]) => [`UV_${name}`, number])),
  }),
};

/**
 * Answers the calls of `process.binding` that only read facts about Node, with fresh objects. Node's permission model
 * refuses every call, and still refuses the others, which could bypass the patches.
 */
export const offerBindings = (): void => {
  const denied = Reflect.get(process, 'binding') as (name: unknown) => unknown;
  const binding = (name: unknown): unknown =>
    typeof name === 'string' && Object.hasOwn(BINDINGS, name) ? BINDINGS[name]?.() : denied.call(process, name);
  Object.defineProperty(process, 'binding', { value: binding, configurable: true, enumerable: false, writable: true });
};
