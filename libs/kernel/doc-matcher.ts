import { type Doc, type DocMatch } from './read-model-store.js';

/** Characters of a text beside a document that are compared. */
export const COMPARED_CHARS = 65_536;

/** `beside`: the document fits, if the text beside it does. */
export type Verdict = 'fits' | 'beside' | 'not';

/** Compares documents, as JSON texts, with a DocMatch. Most that do not fit are not parsed. */
export class DocMatcher<D extends Doc> {
  /** What the JSON of a document that fits contains. */
  private readonly needed: readonly string[];
  private readonly part: string;
  /** Whether `part` stands in the JSON of a text as it is. */
  private readonly isPlain: boolean;

  constructor(private readonly match: DocMatch) {
    const { equals = {}, contains } = match;
    this.needed = Object.entries(equals).map(([field, text]) => `${JSON.stringify(field)}:${JSON.stringify(text)}`);
    this.part = contains?.part.toLowerCase() ?? '';
    this.isPlain = JSON.stringify(this.part) === `"${this.part}"`;
  }

  verdict(json: string, hasBeside: boolean): Verdict {
    if (!this.needed.every((text) => json.includes(text))) return 'not';
    const { contains } = this.match;
    const mayContain = !this.isPlain || json.toLowerCase().includes(this.part);
    if (contains && !mayContain && !hasBeside) return 'not';
    const fields = new Map<string, unknown>(Object.entries(JSON.parse(json) as D));
    if (!this.isSelected(fields)) return 'not';
    if (!contains || contains.fields.some((field) => this.hasPart(fields.get(field)))) return 'fits';
    return hasBeside ? 'beside' : 'not';
  }

  fitsBeside(text: string): boolean {
    return this.hasPart(text.slice(0, COMPARED_CHARS));
  }

  private isSelected(fields: ReadonlyMap<string, unknown>): boolean {
    const { equals = {}, none = {} } = this.match;
    return (
      Object.entries(equals).every(([field, text]) => fields.get(field) === text) &&
      Object.entries(none).every(([field, texts]) => !texts.includes(String(fields.get(field))))
    );
  }

  private hasPart(value: unknown): boolean {
    return typeof value === 'string' && value.toLowerCase().includes(this.part);
  }
}
