import { describe, expect, it } from '@jest/globals';
import { DomainError } from '#libs/kernel/domain-error.js';
import { SourceRunner } from './source-runner.js';
import { ok } from './testing/fake-sandbox.js';
import { definition, sourceWorld, until } from './testing/source-world.js';

describe('source runner without the npm packages of its source', () => {
  it('tells once that npm packages cannot be installed, and then runs the events that waited in order', async () => {
    const world = sourceWorld({ auto: () => ok({}) });
    let installs = 0;
    let isDown = true;
    const packages: typeof world.deps.packages = () => {
      installs++;
      return isDown
        ? Promise.reject(new DomainError('component.package_unavailable', 'the npm package "p@1.0.0" is away'))
        : Promise.resolve({ folder: '/p', hasMachineCode: false, release: () => Promise.resolve() });
    };
    world.world.definition = definition({ packages: { lockHash: 'lock', hasMachineCode: false } });
    const runner = await SourceRunner.load('dc_1', { ...world.deps, packages }, () => undefined);
    await runner.accept([world.invocation(0), world.invocation(1)]);
    const told = () => world.journal.records.filter(({ headers }) => headers['channel'] === '$errors');
    await until(() => installs >= 3);
    expect(told()).toHaveLength(1);
    expect(told()[0]?.value).toMatch(/"code":"PackageUnavailable"/);
    expect(told()[0]?.value).toMatch(/p@1\.0\.0/);
    expect(world.acked).toEqual([]);
    isDown = false;
    await until(() => world.acked.length === 2);
    expect(world.sandboxes.flatMap(({ started }) => started)).toEqual(['inv_0', 'inv_1']);
    expect(told()).toHaveLength(1);
    await runner.close();
  });
});
