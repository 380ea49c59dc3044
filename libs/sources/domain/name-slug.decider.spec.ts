import { describe, expect, it } from '@jest/globals';
import { given } from '#libs/kernel/testing/decider-specification.js';
import { type NameSlugEvent } from '../published.js';
import { nameSlugDecider, slugFamily, slugOf, slugStreamId, type NameSlugCommand } from './name-slug.js';

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
