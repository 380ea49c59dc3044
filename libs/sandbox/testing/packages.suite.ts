import { expect, it } from '@jest/globals';
import { type Built } from '../bundler/bundler.js';
import { type BundleInput } from '../bundler/component-files.js';
import { type PackageSource } from '../bundler/packages.js';
import { componentOf } from '../child/component.js';
import { loadBundle, usePackages } from '../child/load-bundle.js';
import { PackageFolder, type PackageTexts } from './package-folder.js';

type BundleWith = (input: BundleInput, packages: PackageSource) => Promise<Built>;

/** Test cases of bundling npm packages, in a jail and without one. */
export const packageCases = (bundleWith: BundleWith): void => {
  const built = async (
    code: string,
    texts: PackageTexts,
    places?: Readonly<Record<string, string>>,
    files?: Readonly<Record<string, string>>,
  ) => {
    const packages = new PackageFolder(texts, places);
    try {
      const { bundle, packages: used } = await bundleWith(files === undefined ? { code } : { code, files }, packages);
      usePackages(used?.installed.folder ?? null);
      const component = componentOf(loadBundle(bundle));
      await used?.installed.release();
      expect(packages.held).toBe(0);
      const asked = packages.asked.map(({ specifiers }) => specifiers);
      return { component, externals: used?.externals, native: used?.native, asked, bundle };
    } finally {
      usePackages(null);
      await packages.remove();
    }
  };

  it('bundles a package, what it needs, and its own copy of a package', async () => {
    const { component, externals, asked } = await built(
      `import a from 'a@^1.0.0'; const { b } = require('@s/b@1/sub'); export default { name: a + b }`,
      {
        'a/package.json': '{"version":"1.2.3","main":"lib/main"}',
        'a/lib/main.js': `module.exports = require('c') + require('./data.json').d;`,
        'a/lib/data.json': '{"d":"d"}',
        'a/node_modules/c/index.js': `module.exports = 'inner';`,
        'c/index.js': `module.exports = 'outer';`,
        '@s/b/package.json': '{"exports":{"./sub":{"import":"./no.mjs","require":"./s.cjs"}}}',
        '@s/b/s.cjs': `exports.b = require('c');`,
      },
    );
    expect(component.name).toBe('innerdouter');
    expect(asked).toEqual([['@s/b@1/sub', 'a@^1.0.0']]);
    expect(externals).toEqual([]);
  });

  it('takes two versions of one package apart by their specifiers', async () => {
    const { component } = await built(
      `import one from 'v@1'; import two from 'v@2/sub.js'; import v from 'v'; export default { name: one + two + v }`,
      {
        'v/index.js': `module.exports = 'top';`,
        'x/node_modules/v/index.js': `module.exports = 'one';`,
        'y/node_modules/v/sub.js': `module.exports = 'two';`,
      },
      { 'v@1': 'node_modules/x/node_modules/v', 'v@2/sub.js': 'node_modules/y/node_modules/v' },
    );
    expect(component.name).toBe('onetwotop');
  });

  it('follows exports, imports, patterns and ES modules like Node', async () => {
    const { component } = await built(
      `import e, { n } from 'es'; import f from 'es/features/f.js'; export default { name: e + n + f, later: () => import('es') }`,
      {
        'es/package.json':
          '{"type":"module","exports":{".":{"import":"./m.js","require":"./c.cjs"},"./features/*.js":"./src/*.mjs"},"imports":{"#in":"./in.js"}}',
        'es/m.js': `import i from '#in'; import self from 'es/features/f.js'; export default 'm' + self; export const n = i;`,
        'es/in.js': `export default 'i'`,
        'es/src/f.mjs': `export default 'f'`,
        'es/c.cjs': `module.exports = 'wrong'`,
      },
    );
    expect(component.name).toBe('mfif');
    expect(await (component.later as () => Promise<unknown>)()).toMatchObject({ n: 'i' });
  });

  it('asks for packages that a package imports without declaring them, and leaves an optional one to its try', async () => {
    const { component, asked } = await built(`import a from 'a'; export default { name: a }`, {
      'a/index.js': `let o; try { o = require('optional'); } catch { o = 'none'; } module.exports = require('undeclared') + o;`,
      'undeclared/index.js': `module.exports = require('further/sub.js') + 'u';`,
      'further/sub.js': `module.exports = 'f';`,
    });
    expect(component.name).toBe('funone');
    expect(asked[0]).toEqual(['a']);
    expect(asked.at(-1)).toEqual(expect.arrayContaining(['a']));
  });

  it.each([
    [`import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`, 'require'],
    [`import { createRequire as made } from 'module'; const r = made(import.meta.url);`, 'r'],
    [`import Module from 'node:module'; const r = Module.createRequire(import.meta.url);`, 'r'],
    [`import * as m from 'node:module'; const r = m.createRequire(import.meta.url);`, 'r'],
    [`import { createRequire } from 'node:module';`, 'createRequire(import.meta.url)'],
    [`const r = require('module').createRequire(__filename);`, 'r'],
  ])('requires packages and files through createRequire: %s', async (head, r) => {
    const code = `${head}
      // ${r}('in-a-comment')
      const a = ${r}("a@^1.0.0"), own = ${r}('./own.json'), { sep } = ${r}('node:path');
      export default { name: a.b + own.c + sep }`;
    const texts = {
      'a/package.json': '{"version":"1.2.3"}',
      'a/index.js': `exports.b = require('b');`,
      'b/index.js': `module.exports = 'b';`,
    };
    const { component, asked } = await built(
      head.startsWith('const') ? code.replace('export default', 'module.exports =') : code,
      texts,
      undefined,
      { 'own.json': '{"c":"c"}' },
    );
    expect(component.name).toBe('bc/');
    expect(asked).toEqual([['a@^1.0.0']]);
  });

  it('requires a package by a computed name through createRequire when the component imports it elsewhere', async () => {
    const { component } = await built(
      `import { createRequire } from 'node:module'; import a from 'a'; const r = createRequire(import.meta.url);
       const tried = (name) => { try { return r(name); } catch (error) { return error.code + ': ' + error.message; } };
       export default { name: a, values: ['a', 'b', './c.cjs'].map(tried), types: [typeof r.resolve, r.resolve('fs')] }`,
      { 'a/index.js': `module.exports = 'a';`, 'b/index.js': `module.exports = 'b';` },
    );
    expect(component.values).toEqual([
      'a',
      expect.stringMatching(/^MODULE_NOT_FOUND: Cannot find module "b": .*whose name stands in quotes in the call/),
      expect.stringMatching(/^MODULE_NOT_FOUND: Cannot find module '\.\/c\.cjs'/),
    ]);
    expect(component.types).toEqual(['function', 'fs']);
  });

  it('bundles a folder node_modules that a package has within', async () => {
    const { component, externals } = await built(`import a from 'a'; export default { name: a }`, {
      'a/package.json': '{"main":"dist/index.js"}',
      'a/dist/index.js': `module.exports = require('./node_modules/b/index.js') + require('c');`,
      'a/dist/node_modules/b/index.js': `module.exports = 'b';`,
      'a/dist/node_modules/c/index.js': `module.exports = 'c';`,
    });
    expect(component.name).toBe('bc');
    expect(externals).toEqual([]);
  });

  it('gives packages the shim of the platform', async () => {
    const { component, asked } = await built(`import a from 'a'; export default { name: a }`, {
      'a/index.js': `module.exports = new (require('@pipedream/platform').ConfigurationError)('m').name;`,
    });
    expect(component.name).toBe('ConfigurationError');
    expect(asked).toEqual([['a']]);
  });

  it.each([
    ['requires by a computed name', { 'k/index.js': `const n = './part'; module.exports = require(n + '.js');` }],
    [
      'reads a file beside its code',
      {
        'k/index.js': `module.exports = require('fs').readFileSync(__dirname + '/text.txt', 'utf8');`,
        'k/text.txt': 'part',
      },
    ],
  ] as [string, PackageTexts][])('keeps a package beside the bundle that %s', async (_what, texts) => {
    const { component, externals, native } = await built(
      `import a from 'a'; import k from 'k'; export default { name: a + k }`,
      { 'k/part.js': `module.exports = 'part';`, 'a/index.js': `module.exports = 'a';`, ...texts },
    );
    expect(component.name).toBe('apart');
    expect(externals).toEqual(['node_modules/k']);
    expect(native).toBeNull();
  });

  it('keeps a package beside a bundle that awaits at the top', async () => {
    const packages = new PackageFolder({ 'k/index.js': `module.exports = __dirname;` });
    const { bundle, packages: used } = await bundleWith(
      { code: `import k from 'k'; await 1; export default { name: k }` },
      packages,
    );
    await packages.remove();
    expect(used?.externals).toEqual(['node_modules/k']);
    expect(bundle).not.toMatch(/^import .*sluice-package/m);
  });

  // docs/reference/component-model.md#npm-packages
  it.each([
    [`import x from 'a@1.2.3/none'`, 'a@1.2.3/none', /a@1\.2\.3 has no file "none".*import "a"/],
    [`const x = () => require('a/none.js')`, 'a/none.js', /a@1\.2\.3 has no file "none\.js"/],
    [`const x = () => import('@s/closed@^1/inner.js')`, '@s/closed@^1/inner.js', /@s\/closed has no file "inner\.js"/],
    [`import x from 'types'`, 'types', /types has no main file.*"types\/lib\/part\.js"/],
    [
      `import { createRequire } from 'module'; const x = createRequire(import.meta.url)('a/none')`,
      'a/none',
      /a@1\.2\.3 has no file "none"/,
    ],
  ])('names the file that a package does not have: %s', async (head, specifier, text) => {
    const texts = {
      'a/package.json': '{"version":"1.2.3"}',
      'a/index.js': '',
      '@s/closed/package.json': '{"exports":"./index.js"}',
      '@s/closed/index.js': '',
      '@s/closed/inner.js': '',
      'types/index.d.ts': '',
    };
    const refused = built(`${head}; export default { name: 'n', x }`, texts);
    await expect(refused).rejects.toMatchObject({
      code: 'component.invalid',
      message: expect.stringMatching(text),
      details: { file: 'component.mjs' },
    });
    await expect(refused).rejects.toThrow(`component.mjs imports "${specifier}", but`);
  });

  it('names the package that is missing', async () => {
    await expect(built(`import a from 'a'; export default {}`, {})).rejects.toMatchObject({
      code: 'component.package_unavailable',
      details: { packages: ['a'] },
    });
  });

  it.each(['/etc/passwd', '../../../../../../../../etc/passwd', 'file:///etc/passwd'])(
    'does not let a package read %s',
    async (name) => {
      const attempt = built(`import a from 'a'; export default { name: String(a) }`, {
        'a/index.js': `import x from ${JSON.stringify(name)} with { type: 'text' }; export default x;`,
      });
      await expect(attempt).rejects.toMatchObject({ code: 'component.invalid' });
    },
  );
};
