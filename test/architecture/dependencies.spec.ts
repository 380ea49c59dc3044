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

describe('rules of direction', () => {
  const result = cruise();

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
