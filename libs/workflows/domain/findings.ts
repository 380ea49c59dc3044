import { type Warning } from '#libs/kernel/warning.js';

export const FAULT_CODES = [
  'required',
  'type',
  'range',
  'enum',
  'format',
  'duplicate',
  'conflict',
  'unresolved',
  'unsupported',
  'syntax',
  'expression',
] as const;
export type FaultCode = (typeof FAULT_CODES)[number];

/** Keys and indexes from the definition to one of its values. */
export type Path = readonly (string | number)[];

export interface Fault {
  readonly path: Path;
  /** With `strict` also the code of a warning. */
  readonly code: string;
  readonly message: string;
}

/** Errors, and warnings, of one answer. */
export const MAX_FINDINGS = 50;
const MAX_KEY = 100;
const PLAIN_KEY = /^[A-Za-z_$][\w$-]*$/;

/** A path as text, such as `steps[1].retry.max_retries`. */
export const pathText = (path: Path): string =>
  path
    .map((part, i) => {
      if (typeof part === 'number') return `[${part}]`;
      if (!PLAIN_KEY.test(part)) return `[${JSON.stringify(part.slice(0, MAX_KEY))}]`;
      return `${i === 0 ? '' : '.'}${part.slice(0, MAX_KEY)}`;
    })
    .join('');

const PARTS_OF_PATH = /\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g;

/** The path that `pathText` made a text of. A shortened key is no key of the document, so its place is that around it. */
export const pathOf = (text: string): Path =>
  [...text.matchAll(PARTS_OF_PATH)].map(([part, index, quoted]) => {
    if (index !== undefined) return Number(index);
    return quoted === undefined ? part : (JSON.parse(quoted) as string);
  });

/** What validation found so far. It keeps the first 50 errors and the first 50 warnings. */
export class Findings {
  private readonly found: Fault[] = [];
  private readonly told: Warning[] = [];

  /** @param strict makes each warning an error with the code of the warning */
  constructor(private readonly strict: boolean) {}

  get errors(): readonly Fault[] {
    return this.found;
  }

  get warnings(): readonly Warning[] {
    return this.told;
  }

  get isFull(): boolean {
    return this.found.length >= MAX_FINDINGS;
  }

  /** True when an error was found at this path or below it. */
  hasErrorAt(path: Path): boolean {
    return this.found.some(({ path: other }) => path.every((part, i) => part === other[i]));
  }

  error(path: Path, code: FaultCode, message: string): void {
    if (!this.isFull) this.found.push({ path, code, message });
  }

  warn(path: Path, code: string, message: string): void {
    if (this.strict) {
      if (!this.isFull) this.found.push({ path, code, message });
    } else if (this.told.length < MAX_FINDINGS) this.told.push({ code, message, path: pathText(path) });
  }
}
