/** Loaded before a file of tests, so that the file may import `sluice/test` and be TypeScript (sluice test). */
import Module, { register } from 'node:module';
import { fileURLToPath } from 'node:url';

const KIT = new URL('./index.js', import.meta.url);

type Resolve = (name: string, ...rest: unknown[]) => string;

register('./load-tests.js', { parentURL: import.meta.url, data: { kit: KIT.href } });

const modules = Module as unknown as { _resolveFilename: Resolve };
const resolve = modules._resolveFilename;
/** A project may be without the package, as with a program that is installed for all projects. */
modules._resolveFilename = function (this: unknown, name, ...rest): string {
  try {
    return resolve.call(this, name, ...rest);
  } catch (error) {
    if (name !== 'sluice/test') throw error;
    return fileURLToPath(KIT);
  }
};
