import { readFileSync } from 'node:fs';

/** Version of the installed package. */
export const version = (): string => {
  const file = new URL('../../../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
};
