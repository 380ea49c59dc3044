import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { ROOT } from '#test/harness/paths.js';

// docs/adr/0056-programs-in-bundles.md
describe('the bundle of each program', () => {
  const apps = readdirSync(join(ROOT, 'apps'));
  const mainOf = (app: string): string => `dist/apps/${app}/src/app.js`;
  const threads = ['read-models/scan-worker', 'writer/writer-thread', 'writer/checkpoint-thread'].map(
    (name) => `dist/libs/engines/embedded/${name}.js`,
  );
  /** The test kit, which authors import. */
  const kit = ['index', 'load-tests', 'register'].map((name) => `dist/libs/test-kit/${name}.js`);
  const others = [...threads, ...kit];
  /** Reads the imports of all programs once. Each output is a program with what it loads. */
  const outputsOf = async () => {
    const { metafile } = await build({
      absWorkingDir: ROOT,
      entryPoints: [...apps.map(mainOf), ...others],
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      write: false,
      outdir: 'nowhere',
      metafile: true,
      logLevel: 'silent',
    });
    return Object.values(metafile.outputs);
  };
  let outputs: Awaited<ReturnType<typeof outputsOf>> = [];
  beforeAll(async () => {
    outputs = await outputsOf();
  }, 120_000);
  const programOf = (app: string) => loadedBy(mainOf(app));
  const loadedBy = (entry: string) => {
    const output = outputs.find(({ entryPoint }) => entryPoint === entry);
    const imported = output?.imports.filter(({ external }) => external) ?? [];
    return { files: Object.keys(output?.inputs ?? {}), packages: imported.map(({ path }) => path) };
  };
  /** Packages that others try to load and do without. */
  const OPTIONAL =
    /^(@fastify\/static|@nestjs\/(microservices|websockets)|kerberos|snappy|socks|gcp-metadata|mongodb-client-encryption|@mongodb-js\/zstd|@aws-sdk\/credential-providers|swagger-ui-dist)(\/|$)/;
  const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
  const { dependencies } = JSON.parse(textOf('package.json')) as { readonly dependencies: Record<string, string> };

  it.each(apps)('%s loads a few chunks, and of packages those with files only', (app) => {
    const { files, packages } = programOf(app);
    const others = files.filter((file) => file !== mainOf(app) && !file.startsWith('dist/chunks/'));
    expect(others).toEqual([]);
    expect(files).toContain(mainOf(app));
    expect(files.length).toBeLessThan(150);
    const needed = packages.filter((name) => !isBuiltin(name) && !OPTIONAL.test(name));
    expect(needed.filter((name) => !Object.hasOwn(dependencies, name))).toEqual([]);
  });

  // docs/adr/0092-the-package.md
  it('needs the dependencies of package.json together, and no others', () => {
    const needed = new Set([...apps.map(mainOf), ...others].flatMap((entry) => loadedBy(entry).packages));
    // Found as a file: libs/sandbox/bundler/engine-files.ts.
    needed.add('esbuild-wasm');
    expect(Object.keys(dependencies).filter((name) => !needed.has(name))).toEqual([]);
  });

  it.each(others)('%s has what it imports in chunks', (module) => {
    const { files } = loadedBy(module);
    expect(files).toContain(module);
    expect(files.filter((file) => file !== module && !file.startsWith('dist/chunks/'))).toEqual([]);
  });

  // docs/adr/0086-the-command-line-of-authors.md
  it('a command of authors loads neither Nest nor engines', async () => {
    const source = 'dist/apps/cli/src';
    const commands = readdirSync(join(ROOT, source, 'author')).filter((file) => file.endsWith('.js'));
    expect(commands).toContain('login.js');
    const { metafile } = await build({
      absWorkingDir: ROOT,
      entryPoints: [...commands.map((file) => `${source}/author/${file}`), `${source}/workflows/index.js`],
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      write: false,
      outdir: 'nowhere',
      metafile: true,
      logLevel: 'silent',
    });
    const outputs = Object.values(metafile.outputs);
    const files = outputs.flatMap(({ inputs }) => Object.keys(inputs));
    expect(files).toContain('dist/libs/kernel/near-miss.js');
    expect(files.filter((file) => /^dist\/libs\/(engines|composition|config|hosting\/start)/.test(file))).toEqual([]);
    const packages = outputs.flatMap(({ imports }) => imports.map(({ path }) => path));
    expect(packages).toContain('lossless-json');
    expect(packages.filter((name) => /^@nestjs\/|^(reflect-metadata|express|mongodb|kafkajs)$/.test(name))).toEqual([]);
  });

  it('finds the files of each module where they are', () => {
    const { files } = programOf('standalone');
    expect(files.length).toBeGreaterThan(1);
    const missing = files.flatMap((file) =>
      [...textOf(file).matchAll(/new URL\("(\.[^"]+)", import\.meta\.url\)/g)]
        .map(([, path = '']) => join(ROOT, dirname(file), path))
        .filter((path) => !existsSync(path)),
    );
    expect(missing).toEqual([]);
    const places = files.flatMap((file) =>
      [...textOf(file).matchAll(/lastIndexOf\("\/dist\/"\) \+ 6\) \+ "([^"]+)"/g)].map(([, path = '']) => path),
    );
    expect(places).toContain('libs/engines/embedded/writer/writer.js');
    expect(places.filter((path) => !existsSync(join(ROOT, 'dist', path)))).toEqual([]);
  });

  it('keeps the names of classes that esbuild renames', () => {
    const { files } = programOf('standalone');
    const classes = files.flatMap((file) => [
      ...textOf(file).matchAll(
        /class (\w+)(?: extends [^{]+)? \{\s+static \{\s+Object\.defineProperty\(this, "name", \{ value: "(\w+)"/g,
      ),
    ]);
    const renamed = classes.filter(([, name, given]) => name !== given).map(([, , given]) => given);
    expect(renamed).toContain('UpdateSourceController');
    expect(renamed).toContain('UpdateSourceHandler');
  });
});
