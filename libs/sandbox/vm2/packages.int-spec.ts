import { afterAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInspector, type Inspected } from '../host/inspector.js';
import { createSandboxFactory } from '../host/sandbox-factory.js';
import { detectIsolation } from '../jail/detect.js';
import { type JailLevel } from '../jail/jail-level.js';
import { PackageFolder, type PackageTexts } from '../testing/package-folder.js';

let level: JailLevel | undefined;
try {
  level = await detectIsolation('vm2');
} catch (error) {
  process.stderr.write(`skipped: vm2 cannot run here: ${String(error)}\n`);
}
const dir = await mkdtemp(path.join(tmpdir(), 'sluice-test-'));
afterAll(() => rm(dir, { recursive: true, force: true }));

const inspected = async (code: string, texts: PackageTexts): Promise<Inspected> => {
  const packages = new PackageFolder(texts);
  const inspector = createInspector({ level: level as JailLevel, packages });
  try {
    return await inspector.inspect(code, { workspaceId: 'o_1' });
  } finally {
    await inspector.close();
    await packages.remove();
    expect(packages.held).toBe(0);
  }
};

describe.each(level === undefined ? [] : [level])('npm packages in a vm2 realm', () => {
  it('are bundled, and found by import, require and createRequire', async () => {
    const code = `import { createRequire } from 'node:module'; import a from 'a';
      const r = createRequire(import.meta.url);
      const failed = () => { try { return r(['o', 'ther'].join('')); } catch (error) { return error.message; } };
      export default { name: 'n', run() { console.log(a, require('b'), r('c')); console.log(failed()); } }`;
    const { bundle, packages } = await inspected(code, {
      'a/package.json': '{"exports":{"import":"./m.mjs","require":"./c.cjs"},"dependencies":{"b":"1"}}',
      'a/m.mjs': `import b from 'b'; export default 'a with ' + b;`,
      'a/c.cjs': `module.exports = 'wrong';`,
      'b/index.js': `module.exports = 'b';`,
      'c/index.js': `module.exports = 'c';`,
      'other/index.js': '',
    });
    expect(packages?.externals).toEqual([]);
    const bundleFile = path.join(dir, 'bundle.js');
    await writeFile(bundleFile, bundle);
    const factory = createSandboxFactory({ level: level as JailLevel });
    const about = { sourceId: 'dc_1', workspaceId: 'o_1', bundleFile, props: {}, db: {}, concurrency: 1 };
    const sandbox = await factory.start(about);
    const { logs, error } = await sandbox.run({ invocationId: 'i', event: '{}', timeoutMs: 10_000 });
    await sandbox.stop();
    await factory.close();
    expect(error).toBeUndefined();
    expect(logs.map(({ msg }) => msg)).toEqual(['a with b b c', expect.stringContaining('"other"')]);
  });

  it('are refused by name when they cannot be bundled', async () => {
    const code = `import a from 'a'; export default { name: 'n', run() { a(); } }`;
    const texts = { 'a/index.js': `module.exports = () => __dirname;` };
    await expect(inspected(code, texts)).rejects.toMatchObject({
      code: 'component.package_unavailable',
      message: expect.stringMatching(/a@1\.0\.0 cannot be bundled.*vm2.*SLUICE_ISOLATION=jail/),
      details: { packages: ['a@1.0.0'] },
    });
  });
});
