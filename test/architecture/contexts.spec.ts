import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { contexts, makeViews, projections, reactorsOf, resourceLimits } from '#libs/composition/contexts.js';
import { streamReadModels } from '#libs/composition/read-models.js';
import { loadConfig } from '#libs/config/index.js';
import { systemClock } from '#libs/kernel/clock.js';
import { type Context } from '#libs/kernel/context.js';
import { ID_KINDS } from '#libs/kernel/id-kinds.js';
import { ROOT } from '#test/harness/paths.js';

const files = readdirSync(join(ROOT, 'libs'), { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !/\.(int-)?spec\.ts$|^engines\/|\/testing\//.test(file),
);
const textOf = (file: string): string => readFileSync(join(ROOT, 'libs', file), 'utf8');
const having = (pattern: RegExp): string[] => files.filter((file) => pattern.test(textOf(file)));
const namesIn = (list: readonly string[]): string[] =>
  list.flatMap((file) => [...textOf(file).matchAll(/\bname(?: =|:) '([^']+)'/g)].map(([, name = '']) => name));

const described: readonly Context[] = contexts;
const nothing = {} as never;
const streams = streamReadModels(loadConfig({}));

/** Everything that the code of a context declares is in its description, over which the roles fold. */
describe('the descriptions of contexts', () => {
  it('are in the one list', async () => {
    const found = files.filter((file) => /^[^/]+\/context\.ts$/.test(file) && file !== 'kernel/context.ts');
    const made = await Promise.all(
      found.map(async (file) =>
        Object.values<unknown>((await import(`../../libs/${file.replace(/\.ts$/, '.js')}`)) as Record<string, unknown>),
      ),
    );
    expect(found.length).toBeGreaterThan(10);
    expect(new Set(made.flat())).toEqual(new Set(contexts));
    expect(made.flat().length).toBe(contexts.length);
  });

  it('have every read model', () => {
    const declared = namesIn(files.filter((file) => file.endsWith('.projection.ts')));
    const reached = [...projections, ...streams.map(({ projection }) => projection)].map(({ name }) => name);
    expect(declared.length).toBeGreaterThan(15);
    expect(new Set(declared)).toEqual(new Set(reached));
  });

  it('have every reaction', () => {
    const reactors = [
      ...Object.values(reactorsOf(nothing)).map((make) => make()),
      ...streams.map(({ cleanUp }) => cleanUp(nothing, nothing)),
    ];
    expect(reactors.map(({ name }) => name).sort()).toEqual(namesIn(having(/implements Reactor\b/)).sort());
  });

  it('have every table in memory but that of the router, which no other role has', () => {
    const declared = having(/implements LiveView\b/).flatMap((file) =>
      [...textOf(file).matchAll(/class (\w+) implements LiveView\b/g)].map(([, name]) => name),
    );
    const made = makeViews(systemClock).all.map((view) => view.constructor.name);
    expect(declared.sort()).toEqual([...made, 'SubscriptionTable'].sort());
  });

  it('have every module with routes', () => {
    const modules = files.filter((file) => /^([^/]+)\/\1\.module\.ts$/.test(file)).map((file) => file.split('/')[0]);
    const rooms = having(/^ {2}module: /m).map((file) => file.split('/')[0]);
    const ofTheEdge = ['http', 'telemetry'];
    expect(rooms.sort()).toEqual(modules.filter((room = '') => !ofTheEdge.includes(room)).sort());
  });

  it('have each kind of id once', () => {
    const ids = described.flatMap((context) => context.ids ?? []);
    expect([...ids].sort()).toEqual(Object.keys(ID_KINDS).sort());
  });

  it('have every limit once, and no name is taken twice', () => {
    const declared = files
      .filter((file) => /^[^/]+\/limits\.ts$/.test(file))
      .flatMap((file) => [...textOf(file).matchAll(/^ {2}(\w+): /gm)].map(([, name]) => name));
    expect(declared.sort()).toEqual(Object.keys(resourceLimits).sort());
    const parts = (['views', 'reactors', 'streamReadModels', 'upcasters'] as const).map((part) =>
      described.flatMap((context) => {
        const has = context[part];
        return Object.keys((typeof has === 'function' ? has(systemClock) : has) ?? {});
      }),
    );
    for (const names of parts) expect(names).toEqual([...new Set(names)]);
  });
});
