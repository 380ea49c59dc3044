import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import http from 'node:http';
import { type AddressInfo } from 'node:net';
import { tryLevel, type JailLevel, type JailName, isCarried } from '#libs/sandbox/index.js';
import { loadAreas } from './areas.js';
import { type Case } from './case.js';
import { play, type Played } from './play.js';
import { answer } from './server.js';
import { Bundles, Stage } from './stage.js';

const NAMES: readonly JailName[] = ['jail (bwrap)', 'jail (unshare)', 'process'];
const found = await Promise.all(NAMES.map(async (name) => [name, await tryLevel(name)] as const));
const strongest = found.map(([, level]) => level).find((level) => typeof level !== 'string') as JailLevel;
const only = process.env.CASE;
const areas = (await loadAreas()).map((one) => ({
  ...one,
  cases: one.cases.filter(({ component }) => only === undefined || component.includes(only)),
}));
const AT_ONCE = 3;

/** RegExps as matchers, at any depth. */
const asMatcher = (value: unknown): unknown => {
  if (value instanceof RegExp) return expect.stringMatching(value);
  if (Array.isArray(value)) return value.map(asMatcher);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, asMatcher(part)]));
};

const WHOLE = ['emits', 'metadata', 'logs', 'db', 'warnings'] as const;

const check = (one: Case, played: Partial<Played>): void => {
  if (one.then.refused) return void expect(played).toMatchObject({ refused: asMatcher(one.then.refused) as object });
  expect(played.refused).toBeUndefined();
  const { errors = [] } = one.then;
  expect(played.errors).toMatchObject(asMatcher(errors) as object);
  for (const [field, expected] of Object.entries(one.then) as [keyof Played, unknown][]) {
    const matcher = asMatcher(expected);
    if ((WHOLE as readonly string[]).includes(field)) expect({ [field]: played[field] }).toEqual({ [field]: matcher });
    else expect({ [field]: played[field] }).toMatchObject({ [field]: matcher });
  }
};

let bundles: Bundles;
beforeAll(async () => {
  bundles = await Bundles.open(strongest);
});
afterAll(() => bundles.close());

describe.each(found)('components at the level %s', (_name, level) => {
  if (typeof level === 'string') {
    it.skip(level, () => undefined);
    return;
  }
  const server = http.createServer(answer);
  let stage: Stage;
  const outcomes = new Map<Case, Promise<Partial<Played>>>();
  const isPossible = ({ needs }: Case): boolean => needs === undefined || isCarried(level, needs);

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stage = await Stage.open(level, bundles, ['127.0.0.1']);
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    // A few cases at once. Each test below waits for its own.
    const lanes = Array.from({ length: AT_ONCE }, () => Promise.resolve() as Promise<unknown>);
    for (const [n, one] of areas.flatMap(({ cases }) => cases.filter(isPossible)).entries()) {
      const lane = n % AT_ONCE;
      const outcome = lanes[lane]!.then(() => play(stage, one, address));
      lanes[lane] = outcome.catch(() => undefined);
      outcomes.set(one, outcome);
    }
  });

  afterAll(async () => {
    await Promise.allSettled(outcomes.values());
    await stage.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  describe.each(areas.filter(({ cases }) => cases.length > 0))('$title', ({ cases }) => {
    for (const one of cases) {
      const name = `${one.component}: ${one.title}`;
      if (isPossible(one))
        it(name, async () => check(one, await (outcomes.get(one) as Promise<Partial<Played>>)), 120_000);
      else it.skip(`${name}: this level does not promise ${one.needs ?? ''}`, () => undefined);
    }
  });
});
