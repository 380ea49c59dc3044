import { expect, it } from '@jest/globals';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type BundleInput } from '../bundler/component-files.js';
import { noPackages, type PackageSource } from '../bundler/packages.js';
import { type Built } from '../bundler/bundler.js';
import { componentOf } from '../child/component.js';
import { loadBundle } from '../child/load-bundle.js';
import { packageCases } from './packages.suite.js';

export interface Bundling {
  bundle(input: BundleInput): Promise<string>;
  bundleWith(input: BundleInput, packages: PackageSource): Promise<Built>;
}

/** Test cases of bundling, in a jail and without one. */
export const bundlerCases = ({ bundle, bundleWith }: Bundling): void => {
  const load = async (input: BundleInput) => componentOf(loadBundle(await bundle(input)));
  const failing = async (input: BundleInput): Promise<DomainError> => {
    const error: unknown = await bundle(input).catch((reason: unknown) => reason);
    if (error instanceof DomainError) return error;
    throw new Error(`no DomainError: ${String(error)}`);
  };

  it.each([
    ['an ESM default export', 'export default { name: "n" }'],
    ['module.exports', 'module.exports = { name: "n" }'],
    ['exports.default', 'exports.default = { name: "n" }'],
    [
      'a transpiled module',
      'Object.defineProperty(exports, "__esModule", { value: true }); exports.default = { name: "n" }',
    ],
    ['defineSource', 'import { defineSource } from "@pipedream/types"; export default defineSource({ name: "n" })'],
    [
      'defineComponent',
      'import { defineComponent } from "@pipedream/types@0.3"; export default defineComponent({ name: "n" })',
    ],
    [
      'the wrappers of sluice',
      'import { defineAction, defineApp, defineSource } from "sluice"; export default [defineAction, defineApp, defineSource].reduce((given, wrap) => wrap(given), { name: "n" })',
    ],
    ['sluice of a version, by require', 'module.exports = require("sluice@0.1").defineSource({ name: "n" })'],
  ])('accepts %s', async (_what, code) => {
    expect(await load({ code })).toMatchObject({ name: 'n' });
  });

  it('strips the types of TypeScript', async () => {
    const code =
      'enum E { A = 4 } type T = { x: number }; export default { name: "n", e: E.A as number, t: ({ x: 1 } satisfies T) }';
    expect(await load({ code, fileName: 'source.ts' })).toMatchObject({ e: 4 });
  });

  it('bundles the other files of the component, in every notation', async () => {
    const component = await load({
      fileName: 'sources/new/new.mjs',
      code: `import app from '../../app.app.mjs'; import { b } from '../common'; import data from './data.json'; import ts from './typed.js'; const c = require('./c.cjs');
        export default { name: 'n', values: [app.app, b, data.d, ts, c.c] }`,
      files: {
        'app.app.mjs': 'export default { app: "a" }',
        'sources/common/index.js': 'export const b = "b"',
        './sources/new/data.json': '{"d":"d"}',
        'sources/new/typed.ts': 'const x: string = "ts"; export default x',
        'sources/new/c.cjs': 'exports.c = "c"',
      },
    });
    expect(component.values).toEqual(['a', 'b', 'd', 'ts', 'c']);
  });

  it('names a file without the prefix of its namespace when it lacks an export', async () => {
    const code = `import { load } from './load.mjs'; export default { run() { load(); } };`;
    const error = await failing({ code, files: { 'load.mjs': 'export const read = 1;' } });
    expect(error.message).toContain('No matching export in "load.mjs" for import "load"');
    expect(error.message).not.toContain('component:');
  });

  it('does not bundle modules of Node, with and without prefix', async () => {
    const code = `import path from 'path'; import { EOL } from 'node:os'; const fs = require('fs/promises'); export default { name: 'n', ok: [path.join('a', 'b'), EOL, typeof fs.readFile] }`;
    expect((await load({ code })).ok).toEqual(['a/b', '\n', 'function']);
  });

  it('supports import.meta.url and createRequire', async () => {
    const code = `import { createRequire } from 'node:module'; const r = createRequire(import.meta.url); export default { name: 'n', sep: r('path').sep }`;
    expect((await load({ code })).sep).toBe('/');
  });

  it('resolves the platform module to the shim', async () => {
    const code = `import { axios, ConfigurationError, DEFAULT_POLLING_SOURCE_TIMER_INTERVAL as i } from '@pipedream/platform'; export default { name: 'n', i, axios, e: new ConfigurationError('m').name }`;
    const component = await load({ code });
    expect(component).toMatchObject({ i: 900, e: 'ConfigurationError' });
    expect(typeof component.axios).toBe('function');
  });

  it('bundles the library axios only for a component that may send requests with it', async () => {
    const from = '@pipedream/platform';
    const constant = await bundle({
      code: `import { ConfigurationError, DEFAULT_POLLING_SOURCE_TIMER_INTERVAL as i } from '${from}'; export default { name: 'n', i, run() { throw new ConfigurationError('m'); } }`,
    });
    expect(constant.length).toBeLessThan(20_000);
    expect(constant).not.toContain('AxiosError');
    for (const code of [
      `import { axios } from '${from}'; export default { name: 'n', axios }`,
      `import platform from '${from}'; export default { name: 'n', axios: platform.axios }`,
      `const { axios } = require('${from}'); module.exports = { name: 'n', axios }`,
    ]) {
      expect(await bundle({ code })).toContain('AxiosError');
      expect(typeof (await load({ code })).axios).toBe('function');
    }
  });

  it('refuses the inner module of the platform module, and a package of that name', async () => {
    expect((await failing({ code: `import './axios-library.js'; export default {}` })).code).toBe('component.invalid');
    expect((await failing({ code: `import axios from 'axios'; export default {}` })).code).toBe(
      'component.package_unavailable',
    );
  });

  // docs/reference/component-model.md#assigned-constants
  it.each([
    ['=', 'const a = 1', 'a = 2'],
    ['+=', 'const a = 1', 'a += 2'],
    ['++', 'const a = 1', 'a++'],
    ['a list', 'const a = 1', '[a] = [2]'],
    ['a loop', 'const a = 1', 'for (a of [2]);'],
    ['an object', 'const a = 1', '({ b: a } = { b: 2 })'],
    ['an object by name', 'const a = 1', '({ a } = { a: 2 })'],
    ['an object by name with a default', 'const a = 1', '({ a = 3 } = { a: 2 })'],
    ['after a line without a semicolon', 'const a = 1', 'let b = 1\n        a = 2'],
    ['at the start of a block', 'const a = 1', 'if (true) { a = 2 }'],
    ['an import', "import { EOL as a } from 'node:os'", 'a = 2'],
  ])('an assignment to a constant warns, and throws when it runs: %s', async (_what, before, line) => {
    const code = `${before};\nexport default { name: "n", run() { ${line} }, read() { return typeof a } }`;
    const built = await bundleWith({ code }, noPackages);
    expect(built.assignments).toMatchObject([
      { text: expect.stringMatching(/^Cannot assign to/), file: 'component.mjs', line: expect.any(Number) },
    ]);
    const { run, read } = componentOf(loadBundle(built.bundle)) as unknown as Record<'run' | 'read', () => unknown>;
    expect(run).toThrow('Assignment to constant variable.');
    expect(read()).not.toBe('undefined');
  });

  it('an assignment to a constant that is not reached changes nothing', async () => {
    const code = 'const a = 1; export default { name: "n", run(go) { if (go) a = 2; a ||= 3; return a } }';
    const { run } = (await load({ code })) as unknown as { run: (go: boolean) => unknown };
    expect(run(false)).toBe(1);
    expect(() => run(true)).toThrow('Assignment to constant variable.');
  });

  it('keeps names for readable stack traces', async () => {
    const component = await load({
      code: 'function name() {}; { let name2 = 1; } export default { name: "n", f: name.name, a: (() => { const inner = () => 1; return inner.name })() }',
    });
    expect(component).toMatchObject({ f: 'name', a: 'inner' });
  });

  it('names every npm package that is missing', async () => {
    const error = await failing({
      code: `import a from 'rss-parser@^3.0.0'; import b from '@scope/pkg/sub'; export default {}`,
    });
    expect(error.code).toBe('component.package_unavailable');
    expect(error.message).toContain('"rss-parser@^3.0.0"');
    expect(error.details).toEqual({ packages: ['@scope/pkg/sub', 'rss-parser@^3.0.0'] });
  });

  it.each(['constructor', 'toString', '__proto__'])('treats a package named %s as a package', async (name) => {
    const error = await failing({ code: `require(${JSON.stringify(name)}); module.exports = { name: 'n' };` });
    expect(error).toMatchObject({ code: 'component.package_unavailable' });
    expect(error.message).not.toContain(process.cwd());
  });

  packageCases(bundleWith);

  it('names file, line and column of a syntax error', async () => {
    const error = await failing({
      code: 'export default {\n  name: "n",\n  run() { let 1 }\n}',
      fileName: 'my/source.mjs',
    });
    expect(error.code).toBe('component.invalid');
    expect(error.message).toMatch(/^the code cannot be compiled: my\/source\.mjs:3:15: /);
    expect(error.details).toMatchObject({ file: 'my/source.mjs', line: 3 });
  });

  it.each([
    ['import x from "../outside.mjs"', 'lies outside'],
    ['import x from "./a/../../outside.mjs"', 'lies outside'],
    ['import x from "../../app.mjs"', 'or give the path of the code among the files as file_name'],
    ['import x from "fs/promise"', 'which is no module of Node: "fs/promises" is probably meant'],
    ['import x from "/etc/passwd"', 'cannot be imported'],
    ['import x from "file:///etc/passwd"', 'cannot be imported'],
    ['import x from "https://example.com/x.js"', 'cannot be imported'],
    ['import x from "data:text/javascript,1"', 'cannot be imported'],
    ['import x from "./missing.mjs"', "is not among the component's files"],
    ['require("./missing.mjs")', "is not among the component's files"],
    ['await import("../up.mjs")', 'lies outside'],
  ])('refuses %s', async (code, text) => {
    const error = await failing({ code: `${code}; export default {}` });
    expect(error).toMatchObject({ code: 'component.invalid', message: expect.stringContaining(text) });
  });

  it.each([
    ['import(`./x/${q}.mjs`)', 'import'],
    ["import('./x/' + q)", 'import'],
    ['require(`./x/${q}.json`)', 'require'],
    ["import(`./x/${q}.key`, { with: { type: 'text' } })", 'import'],
    ['import(`/etc/${q}`)', 'no pattern'],
  ])('refuses the path built from parts in %s, and says what to write', async (code, call) => {
    const q = call === 'no pattern' ? bundle({ code: `const q = 'a'; export default () => ${code}` }) : undefined;
    // esbuild does not treat this as a pattern, so it reads nothing and keeps the import.
    if (q) return expect(await q).toContain('import(`/etc/${q}`)');
    const error = await failing({ code: `const q = 'a';\nexport default () => ${code}`, fileName: 'a/b.mjs' });
    expect(error).toMatchObject({ code: 'component.invalid', details: { file: 'a/b.mjs' } });
    expect(error.message).toMatch(
      new RegExp(`^a/b\\.mjs:2:\\d+: ${call}\\(\\) builds the path .*import\\('\\./part\\.mjs'\\)`),
    );
  });

  it.each(['../x.mjs', '/etc/x', 'a/../../x', 'a\\..\\x', 'a\0b', '.', '..'])(
    'refuses the file name %j',
    async (name) => {
      expect(await failing({ code: '', files: { [name]: '' } })).toMatchObject({ code: 'component.invalid' });
      expect(await failing({ code: '', fileName: name })).toMatchObject({ code: 'component.invalid' });
    },
  );
};
