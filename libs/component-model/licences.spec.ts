import { describe, expect, it } from '@jest/globals';
import { statedLicence } from './licences.js';

describe('the licence that a package states', () => {
  it.each<[object, string | undefined]>([
    [{ license: 'MIT' }, 'MIT'],
    [{ license: '(MIT OR Apache-2.0)' }, '(MIT OR Apache-2.0)'],
    [{ license: 'SEE LICENSE IN terms.md' }, 'SEE LICENSE IN terms.md'],
    [{ license: { type: 'ISC', url: 'https://licence.example' } }, 'ISC'],
    [{ licenses: [{ type: 'MIT' }, { type: 'GPL-2.0' }] }, 'MIT OR GPL-2.0'],
    [{ license: 'MIT', licenses: ['MIT'] }, 'MIT'],
    [{}, undefined],
    [{ license: '' }, undefined],
    [{ license: '  ' }, undefined],
    [{ license: null, licenses: [7, null, {}] }, undefined],
    [{ license: 'M\u001b[31mI\nT' }, 'M [31mI T'],
  ])('of %j is %j', (described, licence) => expect(statedLicence(described)).toBe(licence));

  it('is short, however long the text is', () => {
    expect(statedLicence({ license: 'x'.repeat(1_000_000) })).toHaveLength(100);
  });
});
