import { AsyncLocalStorage } from 'node:async_hooks';
import dns from 'node:dns';
import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import { Readable, Writable } from 'node:stream';
import util from 'node:util';

// The component may replace them later.
const { get: read, ownKeys, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const { readdirSync } = fs;
const { stringify } = JSON;
const later = setImmediate;

/** Turns of the event loop in which a used connection may return to its agent. */
const TURNS = 3;

type Accessor = Pick<PropertyDescriptor, 'get' | 'set'>;

interface BuiltIn {
  readonly object: object;
  readonly prototype: object | null;
  /** Number of its properties, or -1 where more of them change nothing for others. */
  readonly keys: number;
  readonly values: readonly (readonly [key: PropertyKey, value: unknown])[];
  readonly accessors: readonly (readonly [key: PropertyKey, accessor: Accessor])[];
}

/**
 * State of the process after loading. A process whose call has changed it serves no other call, because the next caller
 * would find the changes of the last one (docs/reference/component-model.md#action-process-reuse).
 */
export class LoadedState {
  private readonly builtIns = watched();
  private readonly resources = resourceCounts();
  private readonly rest: string;

  /** @param tmp folder that the component may write to */
  constructor(private readonly tmp: string) {
    this.rest = this.describeRest();
  }

  /** True when nothing has changed since, and no timer, connection or operation is left. Never rejects. */
  async isBack(): Promise<boolean> {
    try {
      // The following checks rely on built-in objects.
      if (!this.builtIns.every(isUnchanged) || this.describeRest() !== this.rest) return false;
      for (let turn = 0; turn < TURNS && !this.isQuiet(); turn++) await new Promise((resolve) => later(resolve));
      return this.isQuiet();
    } catch {
      return false;
    }
  }

  private isQuiet(): boolean {
    for (const [kind, count] of resourceCounts()) if (count > (this.resources.get(kind) ?? 0)) return false;
    return true;
  }

  /** Listeners, variables of the environment, working folder and files. */
  private describeRest(): string {
    const listeners = process.eventNames().map((name) => [String(name), process.listenerCount(name)]);
    return stringify([listeners, { ...process.env }, process.cwd(), readdirSync(this.tmp)]);
  }
}

/**
 * Resources that keep the event loop alive, by kind. Callbacks of `setImmediate` are left out, because they end with
 * the turn.
 */
const resourceCounts = (): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo())
    if (kind !== 'Immediate') counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
};

/** Global objects, their prototypes, and the parts of Node that the platform's own code uses. */
const watched = (): readonly BuiltIn[] => {
  const objects = new Set<object>([fs, util, net, dns, Buffer]);
  for (const key of ownKeys(globalThis)) {
    // An accessor makes its value on the first use.
    const value: unknown = getOwnPropertyDescriptor(globalThis, key)?.value;
    if (isObject(value) && value !== globalThis) objects.add(value);
  }
  const prototypes = new Set<object>();
  for (const object of [...objects, AsyncLocalStorage, EventEmitter, net.Socket, Readable, Writable]) {
    const prototype: unknown = getOwnPropertyDescriptor(object, 'prototype')?.value;
    if (isObject(prototype)) prototypes.add(prototype);
  }
  const iterators = [[], new Map(), new Set(), ''].map((each) => each[Symbol.iterator]());
  const functions = [async () => undefined, function* () {}, async function* () {}];
  for (const one of [...iterators, ...functions, Uint8Array.prototype].map(getPrototypeOf))
    if (one) prototypes.add(one);
  return [
    ...[...objects, process, globalThis].map((object) => ({ ...builtIn(object), keys: -1 })),
    ...[...prototypes].map(builtIn),
  ];
};

const isObject = (value: unknown): value is object =>
  typeof value === 'function' || (typeof value === 'object' && value !== null);

const builtIn = (object: object): BuiltIn => {
  const keys = ownKeys(object);
  const values: [PropertyKey, unknown][] = [];
  const accessors: [PropertyKey, Accessor][] = [];
  for (const key of keys) {
    const found = getOwnPropertyDescriptor(object, key);
    if (found === undefined || isReplacedByNode(object, key, found)) continue;
    if (found.get || found.set) accessors.push([key, found]);
    else if (typeof found.value === 'function' || (object === globalThis && isObject(found.value)))
      values.push([key, found.value]);
  }
  return { object, prototype: getPrototypeOf(object), keys: keys.length, values, accessors };
};

/** Global accessors make their values on their first use, and fetch wraps `process.chdir`. */
const isReplacedByNode = (object: object, key: PropertyKey, found: PropertyDescriptor): boolean =>
  object === globalThis ? found.get !== undefined : object === process && key === 'chdir';

const isUnchanged = ({ object, prototype, keys, values, accessors }: BuiltIn): boolean => {
  if (getPrototypeOf(object) !== prototype || (keys !== -1 && ownKeys(object).length !== keys)) return false;
  for (const [key, value] of values) if (read(object, key) !== value) return false;
  for (const [key, { get, set }] of accessors) {
    const now = getOwnPropertyDescriptor(object, key);
    if (now?.get !== get || now?.set !== set) return false;
  }
  return true;
};
