import { nestsTooDeep } from '#libs/framing/json-text.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { MAX_EXPORTS } from '#libs/component-model/step-run.js';
import { exportBytes } from '../protocol/run-size.js';
import { TEXT_LIMITS } from '../protocol/protocol.js';
import { limitError } from './json-of.js';

export interface ExportRules {
  /** Levels that the value of an export may nest. */
  readonly levels: number;
  /** Code of the error of a value that nests deeper. */
  readonly deepCode?: string;
  /** Fault in a name. Default: none. */
  readonly faultOf?: (name: string) => string | undefined;
  /** Counts bytes, a negative number for those of a value that is replaced. Throws beyond the limit. */
  readonly count: (bytes: number) => void;
}

/** Exports of one run, as JSON texts by name. The last value of a name counts. */
export class Exports {
  private readonly texts = new Map<string, string>();

  constructor(private readonly rules: ExportRules) {}

  put(name: unknown, value: unknown): void {
    if (typeof name !== 'string' || name === '' || name.length > TEXT_LIMITS.name)
      throw new TypeError(`$.export: the name must be a text of 1 to ${TEXT_LIMITS.name} characters`);
    const fault = this.rules.faultOf?.(name);
    if (fault !== undefined) throw new TypeError(`$.export: ${fault}`);
    const text = this.jsonOf(name, value);
    const before = this.texts.get(name);
    if (before === undefined && this.texts.size >= MAX_EXPORTS)
      throw limitError('FunctionPayloadLimitExceeded', `$.export: one run may export at most ${MAX_EXPORTS} names`);
    const bytes = Buffer.byteLength(text);
    this.rules.count(before === undefined ? exportBytes(name, bytes) : bytes - Buffer.byteLength(before));
    this.texts.set(name, text);
  }

  [Symbol.iterator](): Iterator<[string, string]> {
    return this.texts[Symbol.iterator]();
  }

  /** `undefined` is exported as null, because the name is there. */
  private jsonOf(name: string, value: unknown): string {
    const { levels, deepCode } = this.rules;
    let text: string | undefined;
    try {
      text = JSON.stringify(value ?? null);
    } catch (error) {
      const told = `$.export: the value of ${name} cannot be written as JSON: ${messageOf(error)}`;
      throw new Error(told, { cause: error });
    }
    if (text === undefined) throw new Error(`$.export: the value of ${name} is a ${typeof value}, which has no JSON`);
    if (!nestsTooDeep(text, levels)) return text;
    const told = `$.export: the value of ${name} nests more than ${levels} levels deep`;
    throw deepCode === undefined ? new Error(told) : limitError(deepCode, told);
  }
}
