import { nearMiss } from '#libs/kernel/near-miss.js';

/** Words that a component may use, and the explanation of a word that is probably one of them. */
export class Words {
  constructor(
    /** Kind of the words, such as `a key of a component`. */
    private readonly what: string,
    /** Listed in messages. */
    private readonly listed: readonly string[],
    /** Allowed without being listed. */
    private readonly silent: readonly string[] = [],
  ) {}

  /** The allowed word that `word` probably means. */
  meantBy(word: string): string | undefined {
    return nearMiss(word, [...this.listed, ...this.silent]);
  }

  /** Explains the first of `words` that probably means `wanted`. */
  slipOf(wanted: string, words: readonly string[]): string | undefined {
    const slip = words.find((word) => this.meantBy(word) === wanted);
    return slip === undefined ? undefined : this.explain(slip, wanted);
  }

  /** `"prop" is not a key of a component: "props" is probably meant; allowed are name, key, …` */
  explain(word: string, meant: string): string {
    return `${shown(word)} is not ${this.what}: ${shown(meant)} is probably meant; ${this.allowed()}`;
  }

  allowed(): string {
    return `allowed are ${this.listed.join(', ')}`;
  }
}

/** `; "sting" is probably "string"`, or nothing. */
export const meantText = (meant: string | undefined): string =>
  meant === undefined ? '' : `; ${shown(meant)} is probably meant`;

const MAX_SHOWN = 80;

/** Quotes a word of the author for a message. */
export const shown = (word: string): string =>
  JSON.stringify(word.length <= MAX_SHOWN ? word : `${word.slice(0, MAX_SHOWN)}…`);

/** `number`, `an array`, `null`, … */
export const kindOfValue = (value: unknown): string =>
  Array.isArray(value) ? 'an array' : value === null ? 'null' : typeof value;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
