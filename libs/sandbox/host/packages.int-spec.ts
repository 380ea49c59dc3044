import { afterAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { tryLevel } from '../jail/detect.js';
import { type JailLevel, type JailName } from '../jail/jail-level.js';
import { NativeAddon } from '../testing/native-addon.js';
import { PackageFolder, type PackageTexts } from '../testing/package-folder.js';
import { createInspector, type Inspected } from './inspector.js';
import { createSandboxFactory } from './sandbox-factory.js';

const available: JailLevel[] = [];
for (const name of ['jail (bwrap)', 'jail (unshare)', 'process'] as JailName[]) {
  const level = await tryLevel(name);
  if (typeof level === 'string') process.stderr.write(`skipped: ${name} cannot run here: ${level}\n`);
  else available.push(level);
}
const addon = await NativeAddon.build();
const dir = await mkdtemp(path.join(tmpdir(), 'sluice-test-'));
afterAll(() => rm(dir, { recursive: true, force: true }));

/** Reads its own file when it is loaded, and again in each call. */
const BESIDE: PackageTexts = {
  'k/package.json': '{"type":"module","main":"index.js"}',
  'k/index.js': `import { readFileSync } from 'node:fs';
    import d from 'd';
    const read = () => readFileSync(new URL('./text.txt', import.meta.url), 'utf8') + d;
    export const loaded = read(); export default read;`,
  'k/text.txt': 'text ',
  'd/index.js': `module.exports = 'of d';`,
};

describe.each(available)('npm packages in $name', (level) => {
  const inspected = async (code: string, packages: PackageFolder): Promise<Inspected> => {
    const inspector = createInspector({ level, packages });
    try {
      return await inspector.inspect(code, { workspaceId: 'o_1' });
    } finally {
      await inspector.close();
      expect(packages.held).toBe(0);
    }
  };

  /** Log lines of the component in one run. */
  const run = async (code: string, texts: PackageTexts): Promise<{ said: readonly string[]; error: unknown }> => {
    const source = new PackageFolder(texts);
    const { bundle, packages } = await inspected(code, source);
    const bundleFile = path.join(dir, `${level.name}.js`);
    await writeFile(bundleFile, bundle);
    const lock = packages?.lock ?? { specifiers: {}, packages: [] };
    const installed = await source.install({ specifiers: Object.keys(lock.specifiers), workspaceId: 'o_1', lock });
    const hasMachineCode = packages?.hasMachineCode === true;
    const factory = createSandboxFactory({ level });
    const sandbox = await factory.start({
      sourceId: 'dc_1',
      workspaceId: 'o_1',
      bundleFile,
      packages: { folder: installed.folder, hasMachineCode, release: () => installed.release() },
      props: {},
      db: {},
      concurrency: 1,
    });
    const outcome = await sandbox.run({ invocationId: 'i', event: '{}', timeoutMs: 10_000 });
    await sandbox.stop();
    await factory.close();
    expect(source.held).toBe(0);
    await source.remove();
    return { said: outcome.logs.map(({ msg }) => msg), error: outcome.error };
  };

  it('evaluates and runs code with packages in the bundle and beside it', async () => {
    const code = `import read, { loaded } from 'k'; import a from 'a';
      export default { name: 'n', run() { console.log(loaded, read(), a); } }`;
    const { said, error } = await run(code, { ...BESIDE, 'a/index.js': `module.exports = 'bundled';` });
    expect(error).toBeUndefined();
    expect(said).toEqual(['text of d text of d bundled']);
  });

  it('takes ES modules beside the bundle that end in .mjs, of a scope, with and without a default export', async () => {
    const code = `import { at } from 'm'; import read, { more } from '@s/e'; import * as all from '@s/e/sub.mjs';
      export default { name: 'n', run() { console.log(at, read(), more, all.sub); } }`;
    const { said, error } = await run(code, {
      'm/package.json': '{"exports":"./index.mjs"}',
      'm/index.mjs': `export const at = import.meta.url.endsWith('/m/index.mjs');`,
      '@s/e/package.json': '{"main":"index.mjs"}',
      '@s/e/index.mjs': `export const more = import.meta.url.length > 0; export default () => 'default';`,
      '@s/e/sub.mjs': `export const sub = 'sub'; import.meta.url;`,
    });
    expect(error).toBeUndefined();
    expect(said).toEqual(['true default true sub']);
  });

  it('gives createRequire the packages of the lock, in the component and in a package', async () => {
    const code = `import { createRequire } from 'node:module'; import k from 'k';
      const require = createRequire(import.meta.url);
      const failed = () => { try { return require(['o', 'ther'].join('')); } catch ({ code, message }) { return code + message; } };
      export default { name: 'n', run() { console.log(require('b'), require('node:path').sep, k, require('k').default); console.log(failed()); } }`;
    const { said, error } = await run(code, {
      'k/package.json': '{"type":"module","exports":"./index.js","dependencies":{"d":"1"}}',
      'k/index.js': `import { createRequire } from 'node:module'; export default createRequire(import.meta.url)('d');`,
      'd/index.js': `module.exports = 'of d';`,
      'b/index.js': `module.exports = 'bundled';`,
      'other/index.js': `module.exports = 'of nobody';`,
    });
    expect(error).toBeUndefined();
    expect(said).toEqual([
      'bundled / of d of d',
      expect.stringMatching(/^MODULE_NOT_FOUNDCannot find module "other": /),
    ]);
  });

  it('leaves a large package beside the bundle', async () => {
    const code = `import big from 'big'; import a from 'a'; export default { name: 'n', run() { console.log(big, a); } }`;
    const texts = {
      'big/index.js': `module.exports = 'big';`,
      'big/never-loaded.js': `//${'x'.repeat(8 * 1024 * 1024)}`,
      'a/index.js': `module.exports = 'bundled';`,
    };
    const { packages } = await inspected(code, new PackageFolder(texts));
    expect(packages?.externals).toEqual(['node_modules/big']);
    expect((await run(code, texts)).said).toEqual(['big bundled']);
  });

  it('maps stacks to the lines of the author', async () => {
    const code = `import a from 'a';\n\nexport default { name: 'n', run() {\n  a(); } }`;
    const { error } = await run(code, { 'a/index.js': `module.exports = () => { throw new Error('of a'); };` });
    expect(error).toMatchObject({ message: 'of a', stack: expect.stringContaining('component.mjs:4:3') });
  });

  it('keeps the package of another component out of reach', async () => {
    const other = new PackageFolder({ 'secret/index.js': `module.exports = 'of another';` });
    const { folder } = await other.install({ specifiers: ['secret'], workspaceId: 'o_2' });
    const code = `import k from 'k'; export default { name: 'n', run() { console.log(k()); } }`;
    const { said } = await run(code, {
      'k/index.js': `const at = __dirname; module.exports = () => { try { return require(${JSON.stringify(folder)} + '/node_modules/secret'); } catch (error) { return error.code; } };`,
    });
    await other.remove();
    expect(said).toHaveLength(1);
    expect(['MODULE_NOT_FOUND', 'ERR_ACCESS_DENIED']).toContain(said[0]);
  });

  it('lets no package write to its folder', async () => {
    const code = `import k from 'k'; export default { name: 'n', run() { console.log(k()); } }`;
    const { said } = await run(code, {
      'k/index.js': `module.exports = () => { try { require('fs').writeFileSync(__dirname + '/index.js', ''); return 'written'; } catch (error) { return error.code; } };`,
    });
    expect(said).toHaveLength(1);
    expect(['EROFS', 'ERR_ACCESS_DENIED', 'EACCES']).toContain(said[0]);
  });

  const texts =
    typeof addon === 'string'
      ? {}
      : { 'n/index.js': `module.exports = require('./probe.node');`, 'n/probe.node': addon.code };
  const native = `import n from 'n'; export default { name: 'n', run() { console.log(n.answer); } }`;
  const test = typeof addon === 'string' ? it.skip : it;
  if (level.name === 'process') {
    test('refuses machine code, and names the package and the missing jail', async () => {
      await expect(inspected(native, new PackageFolder(texts))).rejects.toMatchObject({
        code: 'component.package_unavailable',
        message: expect.stringMatching(/n@1\.0\.0 contains machine code.*bubblewrap/),
        details: { packages: ['n@1.0.0'] },
      });
    });
    return;
  }

  test('loads machine code from the packages, and not from /tmp', async () => {
    const copies = `import n from 'n'; import fs from 'node:fs'; import Module from 'node:module';
      export default { name: 'n', run() { console.log(n.answer);
        fs.copyFileSync('/packages/node_modules/n/probe.node', '/tmp/probe.node');
        try { Module._load('/tmp/probe.node'); console.log('loaded'); } catch (error) { console.log(error.code); } } }`;
    const { said } = await run(copies, texts);
    expect(said).toEqual(['42', 'ERR_DLOPEN_FAILED']);
    expect((await run(native, texts)).said).toEqual(['42']);
  });
});
