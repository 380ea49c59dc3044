import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

interface Cruise {
  summary: { violations: { rule: { name: string }; from: string; to: string }[]; totalCruised: number };
  modules: { source: string; dependencies: { resolved: string; couldNotResolve: boolean; module: string }[] }[];
}

const cruise = (): Cruise => {
  const args = ['node_modules/dependency-cruiser/bin/dependency-cruise.mjs', '--config', '.dependency-cruiser.cjs'];
  let output: string;
  try {
    output = execFileSync(process.execPath, [...args, '--output-type', 'json', 'apps', 'libs', 'test'], {
      maxBuffer: 256 * 1024 * 1024,
      encoding: 'utf8',
    });
  } catch (error) {
    // It exits with the number of violations. The report is on its standard output in any case.
    output = (error as { stdout: string }).stdout;
  }
  return JSON.parse(output) as Cruise;
};

/** Programs that a server starts by their path: processes, jailed or not, and threads. */
const JAILED = [
  ...['libs/sandbox/child/main.ts', 'libs/sandbox/bundler/main.ts', 'libs/sandbox/unpack/main.ts'],
  'libs/sandbox/test-child/main.ts',
  ...['libs/expressions/child/main.ts', 'libs/expressions/child/realm/main.ts', 'libs/packages/fetcher/main.ts'],
];
const THREADS = [
  'libs/engines/embedded/read-models/scan-worker.ts',
  'libs/engines/embedded/writer/checkpoint-thread.ts',
  'libs/engines/embedded/writer/writer-thread.ts',
];
/** What tests of authors import, and what Node loads before them. */
const KIT = ['index', 'load-tests', 'register'].map((name) => `libs/test-kit/${name}.ts`);
/** What a component's bundle takes in place of packages. */
const SHIMS = ['libs/sandbox/shim/platform.ts', 'libs/sandbox/shim/sluice.ts'];

describe('rules of direction', () => {
  const result = cruise();
  const isProduct = (file: string): boolean =>
    /^(apps|libs)\//.test(file) &&
    !/\.spec\.ts$|\.(int-spec|e2e-spec|suite)\.ts$|\/testing\/|^libs\/engines\/conformance\//.test(file);
  /** An import by #libs/ is resolved to the built file. */
  const sourceOf = (file: string): string => file.replace(/^dist\//, '').replace(/\.js$/, '.ts');
  const importsOf = new Map(
    result.modules.map(({ source, dependencies }) => [source, dependencies.map(({ resolved }) => sourceOf(resolved))]),
  );
  const reachedFrom = (roots: readonly string[]): Set<string> => {
    const reached = new Set<string>();
    const open = [...roots];
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
      if (reached.has(file)) continue;
      reached.add(file);
      open.push(...(importsOf.get(file) ?? []));
    }
    return reached;
  };
  const product = [...importsOf.keys()].filter(isProduct);

  it('leaves no module that no program loads', () => {
    const programs = product.filter((file) => /^apps\/[^/]+\/src\/main\.ts$/.test(file));
    expect(programs.length).toBeGreaterThan(5);
    const reached = reachedFrom([...programs, ...JAILED, ...KIT, ...SHIMS, ...THREADS]);
    const unreached = product.filter((file) => !reached.has(file));
    expect(unreached).toEqual([]);
  });

  it('keeps the server side of the sandbox out of processes that run apart from it', () => {
    expect(JAILED.filter((file) => !importsOf.has(file))).toEqual([]);
    const reached = [...reachedFrom(JAILED)];
    expect(reached.filter((file) => /^libs\/sandbox\/(index\.|host\/|jail\/)/.test(file))).toEqual([]);
  });

  it('holds everywhere', () => {
    expect(result.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`)).toEqual([]);
  }, 60_000);

  it('has checked the code, through every import of our own', () => {
    expect(result.summary.totalCruised).toBeGreaterThan(100);
    const unresolved = result.modules.flatMap((module) =>
      module.dependencies
        .filter(({ couldNotResolve, module: name }) => couldNotResolve && /^[.#]/.test(name))
        .map(({ module: name }) => `${module.source}: ${name}`),
    );
    expect(unresolved).toEqual([]);
    const resolved = new Set(result.modules.flatMap((module) => module.dependencies.map((to) => to.resolved)));
    expect(resolved).toContain('libs/stream-log/topics.ts');
    expect([...resolved].some((path) => path === 'dist/libs/kernel/events.js')).toBe(true);
  });

  it('has no catch-all folder', () => {
    const folders = ['apps', 'libs'].flatMap((root) =>
      readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory()),
    );
    const vague = folders.filter(({ name }) => /^(shared|common|core|utils?|helpers?)$/.test(name));
    expect(vague.map(({ parentPath, name }) => join(parentPath, name))).toEqual([]);
  });

  it('uses no package of the original vendor', () => {
    expect(existsSync('node_modules/@pipedream')).toBe(false);
  });
});
