import { performance } from 'node:perf_hooks';
import { nestsTooDeep } from '#libs/framing/json-text.js';
import { MAX_VALUE_BYTES, STEP_MS, type ExpressionScope, type FailureName, type PropType } from '../messages.js';
import { converted, WrongProp } from './convert.js';
import { Realm } from './realm.js';
import { ExpressionSyntaxError, readExpression, readTemplate } from './template.js';

/** Error that fails a step. The message begins with the place. */
export class ExpressionFailure extends Error {
  constructor(
    override readonly name: FailureName,
    place: string,
    reason: string,
  ) {
    super(`${place}: ${reason}`);
  }
}

/** Evaluates one expression or the props of a step, in a realm that outlives it. */
export class StepExpressions {
  private usedMs = 0;
  private bytes = 0;

  constructor(
    private readonly scope: ExpressionScope,
    private readonly leftMs: number,
    private readonly realms: Realms,
  ) {}

  /** Milliseconds that reading and evaluating took. */
  get used(): number {
    return this.usedMs;
  }

  /** JSON text of the expression's value, or undefined. Throws ExpressionFailure. */
  expression(text: string, place: string): string | undefined {
    const { code } = this.timed(place, () => readExpression(text));
    return this.evaluated(code, place);
  }

  /** JSON text of the props by name, each of its type. Props without a type stay as they are. */
  props(values: Readonly<Record<string, unknown>>, types: readonly PropType[]): string {
    const props = new Map<string, unknown>();
    for (const [name, value] of Object.entries(values)) props.set(name, this.resolved(value, `props.${name}`));
    for (const type of types) props.set(type.name, inType(type, props.get(type.name)));
    const json = JSON.stringify(Object.fromEntries(props));
    const bytes = Buffer.byteLength(json);
    if (bytes > MAX_VALUE_BYTES) throw tooLarge('props', bytes);
    if (nestsTooDeep(json)) throw tooDeep('props');
    return json;
  }

  private resolved(value: unknown, place: string): unknown {
    if (typeof value === 'string') return this.text(value, place);
    if (Array.isArray(value)) return value.map((item, i) => this.resolved(item, `${place}[${i}]`));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, this.resolved(each, `${place}.${key}`)]),
    );
  }

  private text(text: string, place: string): unknown {
    if (!text.includes('{{')) return text;
    const parts = this.timed(place, () => readTemplate(text));
    const [first] = parts;
    if (parts.length === 1 && first !== undefined && 'code' in first) {
      const json = this.evaluated(first.code, place);
      return json === undefined ? undefined : (JSON.parse(json) as unknown);
    }
    return parts.map((part) => ('text' in part ? part.text : asText(this.evaluated(part.code, place)))).join('');
  }

  private evaluated(code: string, place: string): string | undefined {
    // Creating a realm does not count as the author's time.
    const realm = this.realms.seeing(this.scope);
    const outcome = this.timed(place, () => realm.evaluate(code, this.leftMs - this.usedMs));
    switch (outcome.kind) {
      case 'late':
        throw late(place);
      case 'too_large':
        throw tooLarge(place, outcome.chars);
      case 'failed':
        throw new ExpressionFailure('ExpressionError', place, outcome.reason);
      case 'value': {
        const { json } = outcome;
        if (json === undefined) return undefined;
        this.bytes += Buffer.byteLength(json);
        if (this.bytes > MAX_VALUE_BYTES) throw tooLarge(place, this.bytes);
        if (nestsTooDeep(json)) throw tooDeep(place);
        return json;
      }
    }
  }

  private timed<T>(place: string, work: () => T): T {
    if (this.usedMs >= this.leftMs) throw late(place);
    const began = performance.now();
    try {
      return work();
    } catch (error) {
      if (!(error instanceof ExpressionSyntaxError)) throw error;
      throw new ExpressionFailure('ExpressionError', place, `${error.message} (at ${error.at + 1})`);
    } finally {
      this.usedMs += performance.now() - began;
    }
  }
}

/** Keeps one realm, and creates another when an expression has changed it. */
export class Realms {
  private realm: Realm | undefined;
  private given: ExpressionScope | undefined;

  any(): Realm {
    if (this.realm?.isClean === true) return this.realm;
    this.given = undefined;
    return (this.realm = new Realm());
  }

  /** The realm, in which expressions see the scope. */
  seeing(scope: ExpressionScope): Realm {
    const realm = this.any();
    if (this.given !== scope) realm.give(scope, MAX_VALUE_BYTES);
    this.given = scope;
    return realm;
  }
}

const inType = (type: PropType, value: unknown): unknown => {
  try {
    return converted(type, value);
  } catch (error) {
    if (!(error instanceof WrongProp)) throw error;
    throw new ExpressionFailure('ConfigurationError', `props.${error.path}`, error.message);
  }
};

/** Text of a value within other text. */
const asText = (json: string | undefined): string => {
  if (json === undefined || json === 'null') return '';
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
};

const late = (place: string): ExpressionFailure =>
  new ExpressionFailure(
    'ExpressionError',
    place,
    `the expressions of the step took longer than ${STEP_MS} ms together`,
  );

const tooLarge = (place: string, size: number): ExpressionFailure =>
  new ExpressionFailure(
    'FunctionPayloadLimitExceeded',
    place,
    `the evaluated props have ${size} bytes or more, at most ${MAX_VALUE_BYTES} (6 MB) are allowed: pass a reference to large data instead`,
  );

const tooDeep = (place: string): ExpressionFailure =>
  new ExpressionFailure('JSONNestedPropertyLimitExceeded', place, 'the value nests deeper than 256 levels');
