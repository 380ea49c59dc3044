import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { type Nameable, OPTIONS_TOOL, toolNames, toolSlug } from './tool-names.js';

const workflow = (fullName: string, createdAt = 1, id = `p_${createdAt}`): Nameable => ({
  id,
  kind: 'workflow',
  fullName,
  createdAt,
});
const action = (fullName: string, createdAt = 1): Nameable => ({
  id: `sc_${createdAt}`,
  kind: 'action',
  fullName,
  createdAt,
});
const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 6);

describe('slug of a workflow', () => {
  it.each([
    ['Sync orders', 'sync_orders'],
    ['  Über-Größe: 2 & 3! ', 'uber_gro_e_2_3'],
    ['already_a_slug', 'already_a_slug'],
    ['日本語', 'workflow'],
    ['', 'workflow'],
  ])('%j becomes %s', (name, slug) => {
    expect(toolSlug(name)).toBe(slug);
  });

  it('takes a time that grows with the length of the name', () => {
    expect(toolSlug('_'.repeat(200_000))).toBe('workflow');
    expect(toolSlug(`${'-'.repeat(200_000)}a`)).toBe('a');
  });
});

describe('names of tools', () => {
  it('keeps a name that may be one', () => {
    expect(toolNames([workflow('Get-Orders_2'), action('github-create-issue')])).toEqual([
      'Get-Orders_2',
      'github-create-issue',
    ]);
  });

  it('replaces each other character', () => {
    expect(toolNames([action('@acme/do.it ü')])).toEqual(['_acme_do_it__']);
  });

  it('keeps 48 characters and shortens 49', () => {
    const [fits, long] = ['a'.repeat(48), 'b'.repeat(49)];
    expect(toolNames([action(fits, 1), action(long, 2)])).toEqual([fits, `${'b'.repeat(41)}_${digest(long)}`]);
  });

  it('makes the digest of the name before characters were replaced', () => {
    const one = `${'a'.repeat(48)}.x`;
    const other = `${'a'.repeat(48)}/x`;
    expect(toolNames([action(one, 1), action(other, 2)])).toEqual([
      `${'a'.repeat(41)}_${digest(one)}`,
      `${'a'.repeat(41)}_${digest(other)}`,
    ]);
  });

  it('leaves the name to the older of two workflows', () => {
    expect(toolNames([workflow('report', 9, 'p_a'), workflow('report', 5, 'p_b')])).toEqual([
      `report_${digest('report')}`,
      'report',
    ]);
  });

  it('leaves the name to the smaller id of two workflows of one time', () => {
    expect(toolNames([workflow('report', 5, 'p_b'), workflow('report', 5, 'p_a')])).toEqual([
      `report_${digest('report')}`,
      'report',
    ]);
  });

  it('leaves the name to a workflow before an older action', () => {
    expect(toolNames([action('report', 1), workflow('report', 9)])).toEqual([`report_${digest('report')}`, 'report']);
  });

  it('finds a clash of names that differ in replaced characters only', () => {
    expect(toolNames([action('a.b', 1), action('a/b', 2)])).toEqual(['a_b', `a_b_${digest('a/b')}`]);
  });

  it('gives each of many tools of one name a name of its own, whatever the order of the list', () => {
    const many = Array.from({ length: 50 }, (_, i) => workflow('report', i + 1));
    const names = toolNames(many);
    expect(new Set(names).size).toBe(50);
    expect(names.every((name) => /^[A-Za-z0-9_-]{1,48}$/.test(name))).toBe(true);
    expect(toolNames([...many].reverse())).toEqual([...names].reverse());
  });

  it('changes no name of an older tool when a younger one comes', () => {
    const older = [workflow('report', 1), workflow('report', 2), workflow('report', 3)];
    const shortened = `report_${digest('report')}`;
    expect(toolNames([...older, workflow(shortened, 4)]).slice(0, 3)).toEqual(toolNames(older));
  });

  it('leaves the name of the tool for options to it', () => {
    expect(toolNames([workflow(OPTIONS_TOOL)])).toEqual([`${OPTIONS_TOOL}_${digest(OPTIONS_TOOL)}`]);
  });

  it('names a key of no character', () => {
    expect(toolNames([action('')])).toEqual([`_${digest('')}`]);
  });
});
