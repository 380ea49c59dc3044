import { tell } from '../progress.js';

/** Prints rows in columns below their headings. Names are texts of users, so control characters are replaced. */
export const tellTable = (headings: readonly string[], rows: readonly (readonly string[])[]): void => {
  const lines = [headings, ...rows].map((row) => row.map((cell) => cell.replaceAll(/\p{C}/gu, '?')));
  const widths = headings.map((_, n) => Math.max(...lines.map((row) => (row[n] ?? '').length)));
  for (const row of lines)
    tell(
      row
        .map((cell, n) => cell.padEnd(widths[n] ?? 0))
        .join('  ')
        .trimEnd(),
    );
};

export const tellJson = (value: unknown): void => tell(JSON.stringify(value, null, 2));

/** An ISO 8601 time in UTC, or null. */
export const isoOf = (epochMs: number | undefined): string | null =>
  epochMs === undefined ? null : new Date(epochMs).toISOString();
