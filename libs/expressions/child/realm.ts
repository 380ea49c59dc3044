import { performance } from 'node:perf_hooks';
import { types } from 'node:util';
import { VM } from 'vm2';
import { STEP_MS, type ExpressionScope } from '../messages.js';
import { SAID } from './realm/said.js';
import { type RealmEnd } from './realm/main.js';

/** Code of realm/main.ts. Inserted when the child is bundled (../child-code.ts). */
declare const REALM_CODE: string;

export type Evaluated =
  /** Undefined for an expression that gave undefined. */
  | { readonly kind: 'value'; readonly json: string | undefined }
  | { readonly kind: 'too_large'; readonly chars: number }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'late' };

/**
 * The realm in which expressions run, which is kept from call to call. A realm that an expression has changed is
 * replaced.
 */
export class Realm {
  private readonly vm = new VM({ wasm: false, eval: false, allowAsync: false });
  private readonly end: RealmEnd;
  private broken = false;

  constructor() {
    // Evaluates to proxies of the realm's functions. Each property is read once.
    const { clear, giveStep, giveItem, isUnchanged } = this.vm.run(
      `(() => { ${REALM_CODE}\nreturn realm.realm; })()`,
      'realm.js',
    ) as RealmEnd;
    this.end = { clear, giveStep, giveItem, isUnchanged };
  }

  /** False once an expression may have changed the realm, which must then not be used again. */
  get isClean(): boolean {
    return !this.broken && this.end.isUnchanged();
  }

  /** Sets the scope of the next expressions. `maxChars` bounds the JSON text of one value. */
  give({ steps, env, item, index }: ExpressionScope, maxChars: number): void {
    this.end.clear(maxChars, env, index ?? -1);
    for (const [namespace, json] of Object.entries(steps)) this.end.giveStep(namespace, json);
    if (item !== undefined) this.end.giveItem(item);
  }

  /** Reason why the code cannot be run. Compiles it, but evaluates nothing. */
  refusal(code: string): string | undefined {
    try {
      this.vm.timeout = STEP_MS;
      this.vm.run(`(${functionOf(code)})`, FILE);
      return undefined;
    } catch (thrown) {
      return refusalIn(thrown) ?? UNREADABLE;
    }
  }

  /** @param code one expression, as template.ts found it */
  evaluate(code: string, leftMs: number): Evaluated {
    const began = performance.now();
    this.vm.timeout = Math.max(1, Math.ceil(leftMs));
    let text: unknown;
    try {
      const call = `$evaluate(${functionOf(code)}, ${mentions(code, 'event')}, ${mentions(code, 'item')})`;
      text = this.vm.run(call, FILE);
    } catch (thrown) {
      const isLate = performance.now() - began >= leftMs || isTimeout(thrown);
      const refusal = isLate ? undefined : refusalIn(thrown);
      // The realm was not entered when the code did not compile.
      this.broken = refusal === undefined;
      return isLate ? { kind: 'late' } : { kind: 'failed', reason: refusal ?? UNREADABLE };
    }
    return read(typeof text === 'string' ? text : '');
  }
}

const FILE = 'expression.js';
const UNREADABLE = 'it ended in a way that cannot be read from outside of its realm';

/**
 * A strict function without `this`, `arguments` and names other than the parameters. The last two hide names that vm2
 * and the set-up leave in the realm. Values that an expression does not name are not parsed.
 */
const functionOf = (code: string): string =>
  `(function () { "use strict"; return (steps, event, process, item, index, Promise, $evaluate) => (${code}\n); })()`;

/** A timer may fire a moment before the clock says so. */
const isTimeout = (thrown: unknown): boolean =>
  types.isNativeError(thrown) &&
  !types.isProxy(thrown) &&
  Reflect.get(thrown, 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT';

/** An escape may spell any name. */
const mentions = (code: string, name: string): boolean => code.includes(name) || code.includes('\\u');

/** Error of the compiler. Undefined for any object from the realm, because reading it could run its code. */
const refusalIn = (thrown: unknown): string | undefined =>
  types.isNativeError(thrown) && !types.isProxy(thrown) ? `${thrown.name}: ${thrown.message}` : undefined;

const read = (text: string): Evaluated => {
  const rest = text.slice(1);
  switch (text[0]) {
    case SAID.json:
      return { kind: 'value', json: rest };
    case SAID.undefined:
      return { kind: 'value', json: undefined };
    case SAID.tooLarge:
      return { kind: 'too_large', chars: Number(rest) };
    case SAID.noJson:
      return { kind: 'failed', reason: `its value, ${rest}, has no JSON` };
    default:
      return { kind: 'failed', reason: rest };
  }
};
