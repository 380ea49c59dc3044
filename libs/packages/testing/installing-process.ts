/**
 * Installs packages in a process of its own, for specs that kill it. Arguments: folder of the cache, URL of the registry,
 * specifiers. Writes `began`, then the names and texts of what it installed as JSON, or the error.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { detectIsolation } from '#libs/sandbox/index.js';
import { PackageStore } from '../package-store.js';

const [folder = '', url = '', ...specifiers] = process.argv.slice(2);

const store = new PackageStore({
  folder,
  level: await detectIsolation('auto'),
  minAgeMs: 0,
  registries: [{ scope: null, url, token: null, tarballHosts: [] }],
});
process.stdout.write('began\n');
try {
  const { lock, folder: tree } = await store.install({ specifiers, workspaceId: 'o_1' });
  const texts = lock.packages.map(({ name, place }) => [
    name,
    readFileSync(path.join(tree, place, 'index.js'), 'utf8'),
  ]);
  process.stdout.write(`${JSON.stringify(Object.fromEntries(texts))}\n`);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`);
} finally {
  await store.close();
}
