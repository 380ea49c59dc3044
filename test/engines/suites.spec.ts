import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '#test/harness/paths.js';
import { ATTACK_SPECS, COPY_SPECS, E2E_SPECS, ENGINES, FAULT_SPECS, ROLE_SPECS, SUITES } from './suites.js';

const specsBelow = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.int-spec.ts'))
    .map((name) => `${folder}/${name}`);

describe('the suites of test:engines', () => {
  it('leave out no spec that needs servers', () => {
    const adapters = ENGINES.map((name) => SUITES[name].adapter);
    const own = ENGINES.flatMap((name) => SUITES[name].ownServer);
    const patterns = [...adapters, ...own, ...FAULT_SPECS, ...COPY_SPECS, ...ROLE_SPECS];
    const specs = [...adapters.flatMap((folder) => specsBelow(folder.slice(0, -1))), ...specsBelow('test/engines')];
    expect(specs.length).toBeGreaterThan(0);
    expect(specs.filter((spec) => !patterns.some((pattern) => spec.includes(pattern)))).toEqual([]);
  });

  it('name existing black-box specs', () => {
    const named = ROLE_SPECS.filter((spec) => spec.endsWith('.ts'));
    expect(named.filter((spec) => !existsSync(join(ROOT, spec)))).toEqual([]);
  });

  it('run every black-box spec on the roles, except those that require one process', () => {
    const specs = ['test/e2e', 'test/faults', 'test/attacks'].flatMap((folder) =>
      readdirSync(join(ROOT, folder))
        .filter((name) => name.endsWith('.e2e-spec.ts'))
        .map((name) => `${folder}/${name}`),
    );
    const onRoles = [...ROLE_SPECS, ...E2E_SPECS, ...ATTACK_SPECS].map((pattern) => new RegExp(pattern));
    expect(specs.filter((spec) => onRoles.some((pattern) => pattern.test(spec)))).toEqual(
      specs.filter((spec) => readFileSync(join(ROOT, spec), 'utf8').includes('useInstance(')),
    );
  });
});
