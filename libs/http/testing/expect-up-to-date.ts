import { existsSync, readFileSync } from 'node:fs';

/** Fails when a generated page of docs/ differs from the code, and names the first differing line. */
export const expectUpToDate = (file: string, text: string, command: string): void => {
  const written = existsSync(file) ? readFileSync(file, 'utf8') : '';
  if (written === text) return;
  const now = text.split('\n');
  const then = written.split('\n');
  const line = now.findIndex((each, index) => each !== then[index]);
  const at = line === -1 ? now.length : line;
  throw new Error(
    `${file} is out of date from line ${at + 1}: it says ${JSON.stringify(then[at] ?? '(end)')}, ` +
      `the code says ${JSON.stringify(now[at] ?? '(end)')}. Run ${command}`,
  );
};
