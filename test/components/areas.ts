import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Area } from './case.js';

/** All areas, by the order of their names: each file `<area>.cases.ts` beside this one. */
export const loadAreas = async (): Promise<readonly Area[]> => {
  const here = dirname(fileURLToPath(import.meta.url));
  const files = readdirSync(here).filter((name) => /\.cases\.(ts|js)$/.test(name));
  const modules = files.sort().map((name) => import(join(here, name)) as Promise<{ readonly default: Area }>);
  return (await Promise.all(modules)).map((module) => module.default);
};
