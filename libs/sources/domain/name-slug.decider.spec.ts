import { describe, expect, it } from '@jest/globals';
import { fold } from '#libs/kernel/decider.js';
import { slugOf } from '#libs/kernel/slug.js';
import { given } from '#libs/kernel/testing/decider-specification.js';
import { type NameSlugEvent } from '../published.js';
import {
  chooseSlug,
  nameSlugDecider,
  slugFamily,
  slugStreamId,
  type NameSlugCommand,
  type NameSlugState,
} from './name-slug.js';

const reserve = (slug: string, sourceId: string): NameSlugCommand => ({
  type: 'ReserveNameSlug',
  slug,
  sourceId,
  secretRefs: ['sec_1'],
  now: 1,
});
const reserved = (slug: string, sourceId: string): NameSlugEvent => ({
  type: 'NameSlugReserved',
  data: { slug, sourceId, secretRefs: ['sec_1'], reservedAt: 1 },
});
const release = (slug: string, sourceId: string): NameSlugCommand => ({
  type: 'ReleaseNameSlug',
  slug,
  sourceId,
  now: 2,
});
const released = (slug: string, sourceId: string): NameSlugEvent => ({
  type: 'NameSlugReleased',
  data: { slug, sourceId, releasedAt: 2 },
});

describe('slug of a name', () => {
  it.each([
    ['Hello World', 'hello-world'],
    ['  New -- Issue (Instant)! ', 'new-issue-instant'],
    ['Café Ünïcode', 'cafe-unicode'],
    ['already-slugged-3', 'already-slugged-3'],
    ['日本語', 'source'],
    ['', 'source'],
    ['x'.repeat(300), 'x'.repeat(200)],
  ])('%p is %p', (name, slug) => {
    expect(slugOf(name)).toBe(slug);
  });

  it.each([
    ['foo', 'foo'],
    ['foo-1', 'foo'],
    ['foo-1-1', 'foo'],
    ['foo-1-bar', 'foo-1-bar'],
    ['2024', '2024'],
    ['2024-1', '2024'],
    ['foo1', 'foo1'],
  ])('%p belongs to the family %p', (slug, family) => {
    expect(slugFamily(slug)).toBe(family);
    expect(slugStreamId('o_1', slug)).toBe(`o_1/${family}`);
  });
});

describe('name slugs of a family', () => {
  it('go to the first source that asks, then count up', () => {
    given(nameSlugDecider).when(reserve('foo', 'dc_1')).then(reserved('foo', 'dc_1'));
    given(nameSlugDecider, [reserved('foo', 'dc_1')])
      .when(reserve('foo', 'dc_2'))
      .then(reserved('foo-1', 'dc_2'));
    given(nameSlugDecider, [reserved('foo', 'dc_1'), reserved('foo-1', 'dc_2')])
      .when(reserve('foo', 'dc_3'))
      .then(reserved('foo-2', 'dc_3'));
  });

  it('treat foo-1 as a possible name of its own', () => {
    given(nameSlugDecider, [reserved('foo', 'dc_1'), reserved('foo-1', 'dc_2')])
      .when(reserve('foo-1', 'dc_3'))
      .then(reserved('foo-1-1', 'dc_3'));
  });

  it('are free again once released, the lowest first', () => {
    given(nameSlugDecider, [reserved('foo', 'dc_1'), reserved('foo-1', 'dc_2'), released('foo', 'dc_1')])
      .when(reserve('foo', 'dc_3'))
      .then(reserved('foo', 'dc_3'));
  });

  it('are reserved once for each source', () => {
    given(nameSlugDecider, [reserved('foo', 'dc_1')])
      .when(reserve('foo', 'dc_1'))
      .thenNothingHappened();
  });

  it('are released by their holder only, once', () => {
    given(nameSlugDecider, [reserved('foo', 'dc_1')])
      .when(release('foo', 'dc_1'))
      .then(released('foo', 'dc_1'));
    given(nameSlugDecider, [reserved('foo', 'dc_1')])
      .when(release('foo', 'dc_2'))
      .thenNothingHappened();
    given(nameSlugDecider).when(release('foo', 'dc_1')).thenNothingHappened();
  });

  it('accept names of JavaScript properties', () => {
    given(nameSlugDecider).when(reserve('constructor', 'dc_1')).then(reserved('constructor', 'dc_1'));
  });
});

describe('a family of many slugs', () => {
  it('still gives each source its own slug, with one pass over its history', () => {
    const many = Array.from({ length: 5_000 }, (_, i) => reserved(i === 0 ? 'foo' : `foo-${i}`, `dc_${i}`));
    given(nameSlugDecider, [...many, released('foo-77', 'dc_77')])
      .when(reserve('foo', 'dc_new'))
      .then(reserved('foo-77', 'dc_new'));
  });
});

describe('the compact history of a family', () => {
  it('leads to the same slugs, and holds no more than is held', () => {
    let events: NameSlugEvent[] = [];
    for (let n = 0; n < 300; n++) {
      const slug = n % 40 === 0 ? 'foo' : `foo-${n % 40}`;
      events.push(n % 3 === 2 ? released(slug, `dc_${n % 40}`) : reserved(slug, `dc_${n % 40}`));
    }
    const whole = fold(nameSlugDecider, events);
    const { state: small, size } = nameSlugDecider.compact?.(whole) ?? { state: undefined, size: 0 };
    expect(size).toBeLessThanOrEqual(40);
    expect(size).toBeGreaterThan(10);
    for (let n = 0; n < 45; n++) {
      const commands = [reserve('foo', `dc_${n}`), reserve(`foo-${n}`, 'dc_new'), release(`foo-${n}`, `dc_${n}`)];
      for (const command of commands)
        expect(nameSlugDecider.decide(command, small)).toEqual(nameSlugDecider.decide(command, whole));
    }
    events = [released('foo-1', 'dc_1'), reserved('foo-1', 'dc_other')];
    const after = events.reduce((state, event) => nameSlugDecider.evolve(state, event), small);
    expect(nameSlugDecider.decide(reserve('foo-1', 'dc_2'), after)).toEqual([reserved('foo-1-1', 'dc_2')]);
  });
});

describe('a slug', () => {
  /** The rule in its plainest form. */
  const plain = (events: readonly NameSlugEvent[], slug: string, sourceId: string): string => {
    const held = new Map<string, string>();
    for (const { type, data } of events)
      if (type === 'NameSlugReserved') held.set(data.slug, data.sourceId);
      else held.delete(data.slug);
    let candidate = slug;
    for (let n = 1; (held.get(candidate) ?? sourceId) !== sourceId; n++) candidate = `${slug}-${n}`;
    return candidate;
  };

  it('is the one of the plain rule, after any history, also when an older state is asked again', () => {
    let seed = 7;
    const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
    const events: NameSlugEvent[] = [];
    const states: NameSlugState[] = [undefined];
    for (let step = 0; step < 3_000; step++) {
      const sourceId = `dc_${random(30)}`;
      const slug = ['foo', 'foo-1', `foo-${random(20)}`, 'foo-2-1'][random(4)] ?? 'foo';
      const at = random(10) === 0 ? random(states.length) : states.length - 1;
      expect(chooseSlug(states[at], slug, sourceId)).toBe(plain(events.slice(0, at), slug, sourceId));
      const command = random(3) === 0 ? release(slug, sourceId) : reserve(slug, sourceId);
      for (const event of nameSlugDecider.decide(command, states.at(-1))) {
        events.push(event);
        states.push(nameSlugDecider.evolve(states.at(-1), event));
      }
    }
    expect(events.length).toBeGreaterThan(300);
  });
});
