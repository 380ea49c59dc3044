import { COMPARED_CHARS, DocMatcher } from './doc-matcher.js';
import { type Doc, type Scanned, type ScanPlace, type ScanQuery } from './read-model-store.js';

/** A document that a scan examines. */
export interface ScannedRow extends ScanPlace {
  /** The document as JSON. */
  readonly doc: string;
  /** Whether a text may stand beside it. */
  readonly hasBeside: boolean;
}

type Text = string | undefined;

/**
 * Examines rows in list order. Adapters share it, so that all find the same.
 *
 * @param rows at most `examine` of them; fewer at the end of the list.
 */
export const scanned = async <D extends Doc>(
  rows: readonly ScannedRow[],
  query: ScanQuery,
  besideOf: (id: string) => Text | Promise<Text>,
): Promise<Scanned<D>> => {
  const scan = new Scan<D>(query);
  for (const row of rows) {
    if (scan.isFull) break;
    if (scan.needsBeside(row)) scan.compare(await besideOf(row.id));
  }
  return scan.result(rows.length);
};

class Scan<D extends Doc> {
  private readonly matcher: DocMatcher<D>;
  private readonly docs: D[] = [];
  private examined = 0;
  private chars = 0;
  private last: ScannedRow | undefined;

  constructor(private readonly query: ScanQuery) {
    this.matcher = new DocMatcher<D>(query.match);
  }

  get isFull(): boolean {
    const { limit, chars } = this.query;
    return this.docs.length >= limit || (this.chars >= chars && this.examined > 0);
  }

  /** Examines the row. True when the text beside it decides, which `compare` must get. */
  needsBeside(row: ScannedRow): boolean {
    this.last = row;
    this.examined++;
    this.chars += row.doc.length;
    const verdict = this.matcher.verdict(row.doc, row.hasBeside);
    if (verdict === 'fits') this.add(row);
    return verdict === 'beside';
  }

  compare(text: Text): void {
    if (text === undefined || !this.last) return;
    this.chars += Math.min(text.length, COMPARED_CHARS);
    if (this.matcher.fitsBeside(text)) this.add(this.last);
  }

  result(rows: number): Scanned<D> {
    const isEnd = this.examined === rows && rows < this.query.examine;
    const next = isEnd || !this.last ? null : { sort: this.last.sort, id: this.last.id };
    return { docs: this.docs, examined: this.examined, chars: this.chars, next };
  }

  private add({ doc }: ScannedRow): void {
    this.docs.push(JSON.parse(doc) as D);
  }
}
