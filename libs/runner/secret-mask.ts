import { type RunOutcome } from '../sandbox/sandbox.js';
import { type UserError } from '../component-model/run-output.js';

const MASK = '********';
/** Shorter ones are words like any other: masking them would make logs unreadable and tell the secret by its gaps. */
const MIN_SECRET = 4;

/** How a secret may stand in a text: as it is, within JSON, within a URL. */
const formsOf = (secret: string): readonly string[] => {
  const inJson = JSON.stringify(secret).slice(1, -1);
  return [secret, inJson, encodeURIComponent(secret.toWellFormed())];
};

/** Keeps the secrets of one source, and the keys of its endpoints, out of what its runs log. */
export class SecretMask {
  /** Longest first: one may hold another. */
  private readonly forms: readonly string[];

  constructor(secrets: readonly string[]) {
    const forms = new Set(secrets.filter((secret) => secret.length >= MIN_SECRET).flatMap(formsOf));
    this.forms = [...forms].sort((a, b) => b.length - a.length);
  }

  text(text: string): string {
    let masked = text;
    for (const form of this.forms) if (masked.includes(form)) masked = masked.replaceAll(form, MASK);
    return masked;
  }

  /** The texts within a JSON text; its numbers, and so its shape, stay. */
  json(text: string): string {
    if (!this.forms.some((form) => text.includes(form))) return text;
    const masked = JSON.stringify(JSON.parse(text), (_key, value: unknown) => this.value(value));
    return masked;
  }

  /** Logs and error without secrets; what the run emitted is its own business. */
  outcome(outcome: RunOutcome): RunOutcome {
    if (this.forms.length === 0 || (outcome.logs.length === 0 && !outcome.error)) return outcome;
    return {
      ...outcome,
      logs: outcome.logs.map((line) => ({ ...line, msg: this.text(line.msg) })),
      ...(outcome.error === undefined ? {} : { error: this.error(outcome.error) }),
    };
  }

  private error({ name, message, stack, code }: UserError): UserError {
    return { name: this.text(name), message: this.text(message), stack: this.text(stack), code: this.text(code) };
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
