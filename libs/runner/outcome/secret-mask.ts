import { type RunOutcome } from '#libs/sandbox/index.js';
import { type UserError } from '#libs/component-model/run-output.js';
import { SecretFinder } from './secret-finder.js';

const MASK = '********';
/** Shorter secrets look like common words. To mask them would make logs unreadable, and the gaps would reveal them. */
const MIN_SECRET = 4;

/** Returns the forms in which a secret may occur in a text: plain, within JSON, and within a URL. */
const formsOf = (secret: string): readonly string[] => {
  const inJson = JSON.stringify(secret).slice(1, -1);
  return [secret, inJson, encodeURIComponent(secret.toWellFormed())];
};

/**
 * Masks the secrets and endpoint keys of one source in its logs and errors, in one pass over each text. A text that
 * begins like a long secret is masked as far as it matches.
 */
export class SecretMask {
  private readonly secrets: readonly string[];
  /** Made for the first text, because most runs have none and its tables are large. */
  private madeFinder: SecretFinder | undefined;

  constructor(secrets: readonly string[]) {
    this.secrets = secrets.filter((secret) => secret.length >= MIN_SECRET);
  }

  private get finder(): SecretFinder {
    return (this.madeFinder ??= new SecretFinder(this.secrets.flatMap(formsOf), MIN_SECRET));
  }

  private get isEmpty(): boolean {
    return this.secrets.length === 0;
  }

  text(text: string): string {
    if (this.isEmpty) return text;
    const parts: string[] = [];
    let at = 0;
    for (const { from, to } of this.finder.find(text)) {
      parts.push(text.slice(at, from), MASK);
      at = to;
    }
    return at === 0 ? text : parts.join('') + text.slice(at);
  }

  /** Masks the texts and keys within a JSON text, and keeps its numbers and its structure. */
  json(text: string): string {
    if (this.isEmpty || this.finder.find(text).next().done === true) return text;
    const masked = JSON.stringify(JSON.parse(text), (_key, value: unknown) => this.value(value));
    return masked;
  }

  /** Masks logs and error. Emits stay as they are, because the author decides what they contain. */
  outcome(outcome: RunOutcome): RunOutcome {
    if (this.isEmpty || (outcome.logs.length === 0 && !outcome.error)) return outcome;
    return {
      ...outcome,
      logs: outcome.logs.map((line) => ({ ...line, msg: this.text(line.msg) })),
      ...(outcome.error === undefined ? {} : { error: this.error(outcome.error) }),
    };
  }

  private error({ name, message, stack, code, cause, errors, place }: UserError): UserError {
    return {
      name: this.text(name),
      message: this.text(message),
      stack: this.text(stack),
      code: this.text(code),
      ...(cause === undefined ? {} : { cause: this.error(cause) }),
      ...(errors === undefined ? {} : { errors: errors.map((each) => this.error(each)) }),
      ...(place === undefined ? {} : { place: { ...place, file: this.text(place.file) } }),
    };
  }

  private value(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const entries = Object.entries(value);
    const isMasked = entries.some(([key]) => this.text(key) !== key);
    return isMasked ? Object.fromEntries(entries.map(([key, each]) => [this.text(key), each])) : value;
  }
}

export const NO_SECRETS = new SecretMask([]);
