/**
 * Set-up code of the vm2 realm, which runs in it before any expression. Only texts, numbers and flags cross between the
 * realm and the child (../realm.ts). The objects of the language are frozen, so code of an expression cannot change
 * what this code calls.
 */
import { lockDown } from './lock-down.js';
import { SAID } from './said.js';

type Expression = (steps: object, event: unknown, process: object, item: unknown, index: number | undefined) => unknown;

const MAX_ERROR = 1_000;

let maxChars = 0;
let stepTexts: [namespace: string, json: string][] = [];
let envText = '{}';
let itemText: string | undefined;
let index: number | undefined;

/** Defines a property whose text is parsed when it is first read. Then it is an ordinary property. */
const defineLazily = (on: object, key: string, json: string): void => {
  const define = (value: unknown): void =>
    void Reflect.defineProperty(on, key, { value, writable: true, enumerable: true, configurable: true });
  Reflect.defineProperty(on, key, {
    enumerable: true,
    configurable: true,
    get: () => {
      const value: unknown = JSON.parse(json);
      define(value);
      return value;
    },
    set: define,
  });
};

const said = (value: unknown): string => {
  if (value === undefined) return SAID.undefined;
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint')
    return `${SAID.noJson}a ${typeof value}`;
  if (typeof value === 'number' && !Number.isFinite(value)) return `${SAID.noJson}${value}`;
  const json = JSON.stringify(value) as string | undefined;
  if (json === undefined) return `${SAID.noJson}undefined, by toJSON`;
  return json.length > maxChars ? `${SAID.tooLarge}${json.length}` : `${SAID.json}${json}`;
};

const thrownText = (thrown: unknown): string => {
  try {
    const text = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : `it threw ${String(thrown)}`;
    return text.slice(0, MAX_ERROR);
  } catch {
    return 'it threw a value that has no text';
  }
};

/** Parses the values anew for each expression. A call from within an expression has no other effect. */
const evaluate = (expression: Expression, needsEvent: boolean, needsItem: boolean): string => {
  try {
    const steps: { trigger?: { event?: unknown } } = {};
    for (const [namespace, json] of stepTexts) defineLazily(steps, namespace, json);
    const process = {};
    defineLazily(process, 'env', envText);
    const event = needsEvent ? steps.trigger?.event : undefined;
    const item: unknown = needsItem && itemText !== undefined ? JSON.parse(itemText) : undefined;
    return said(expression(steps, event, process, item, index));
  } catch (thrown) {
    return SAID.threw + thrownText(thrown);
  }
};

const globalObject = globalThis;
Reflect.set(globalObject, '$evaluate', evaluate);
const isUnchanged = lockDown(globalObject);

/** The child's end of the realm. No expression can reach it. */
export const realm = {
  /** Forgets the scope of the last step. */
  clear: (chars: number, env: string, itemIndex: number): void => {
    maxChars = chars;
    stepTexts = [];
    envText = env;
    itemText = undefined;
    index = itemIndex < 0 ? undefined : itemIndex;
  },
  giveStep: (namespace: string, json: string): void => {
    stepTexts.push([namespace, json]);
  },
  giveItem: (json: string): void => {
    itemText = json;
  },
  isUnchanged,
};

export type RealmEnd = typeof realm;
