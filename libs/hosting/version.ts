import { readFileSync } from 'node:fs';

/** Version of the installed package. */
export const version = (): string => {
  const here = import.meta.url;
  // This file is compiled into dist, one folder deeper.
  const file = new URL(here.endsWith('.ts') ? '../../package.json' : '../../../package.json', here);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
};
