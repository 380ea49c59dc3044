import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, it } from '@jest/globals';
import { transformSync } from 'esbuild';
import { timeByArea, timeByFunction } from './profile-areas.js';
import { inSources } from './profile-sources.js';

const dir = mkdtempSync(join(tmpdir(), 'sluice-profile-'));
afterAll(() => rmSync(dir, { recursive: true }));

it('names the source of a function in a bundle, and leaves files without a map', () => {
  const { code, map } = transformSync('\n\nfunction routeBatch() {}\n', {
    sourcemap: true,
    sourcefile: 'libs/routing/router.ts',
  });
  const bundle = join(dir, 'chunk.js');
  writeFileSync(bundle, code);
  writeFileSync(`${bundle}.map`, map);
  const frame = (url: string) => ({ functionName: 'routeBatch', url, lineNumber: 0, columnNumber: 0 });
  const found = inSources({
    nodes: [
      { id: 1, callFrame: frame(pathToFileURL(bundle).href) },
      { id: 2, callFrame: frame('node:net') },
    ],
    samples: [1, 2],
    timeDeltas: [300, 200],
  });
  expect(timeByArea(found)).toEqual([
    { area: 'ours: routing', us: 300 },
    { area: 'sockets and streams', us: 200 },
  ]);
  expect(timeByFunction(found)[0]?.area).toBe('routeBatch libs/routing/router.ts');
});
