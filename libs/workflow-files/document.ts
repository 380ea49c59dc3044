import { locate, readYaml } from '#libs/expressions/child/yaml-text.js';
import { type Path, pathOf } from '#libs/workflows/domain/findings.js';

/** What is wrong at a place of a file. Line and column count from 1. */
export interface PlacedFault {
  readonly line: number;
  readonly column: number;
  /** Such as `steps[1].uses`; empty for the whole file. */
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

export type ReadDocument =
  | { readonly kind: 'value'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: 'faults'; readonly faults: readonly PlacedFault[] };

/** Reads the text of a file, which is one YAML document or JSON, as a server reads YAML. */
export const readDocument = (text: string): ReadDocument => {
  const read = readYaml(text);
  switch (read.kind) {
    case 'too_large':
      return faulty('range', 'the file has too many values, with each alias as often as it is used');
    case 'faults':
      return {
        kind: 'faults',
        faults: read.faults.map(([code, message, line, column]) => ({ path: '', code, message, line, column })),
      };
    case 'value': {
      const value: unknown = JSON.parse(read.json);
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        return faulty('type', 'the file must hold an object');
      return { kind: 'value', value: value as Readonly<Record<string, unknown>> };
    }
  }
};

/** Places of values in the text of a document, or of what lacks them. */
export const placesIn = (text: string, paths: readonly Path[]): readonly (readonly [line: number, column: number])[] =>
  locate(text, paths);

/** The value at the text of a path. */
export const valueAt = (document: unknown, text: string): unknown =>
  pathOf(text).reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, part)
        ? (value as Record<string | number, unknown>)[part]
        : undefined,
    document,
  );

const faulty = (code: string, message: string): ReadDocument => ({
  kind: 'faults',
  faults: [{ line: 1, column: 1, path: '', code, message }],
});
