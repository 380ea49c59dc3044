import { describe, expect, it } from '@jest/globals';
import { citingTests, citingTestsIn, rulesOfApi } from './api-coverage.js';

describe('docs/reference/rest-api.md', () => {
  const rules = rulesOfApi();

  it('has a test for each rule', () => {
    const cited = new Set(citingTests().flatMap(({ anchors }) => anchors));
    expect(rules.length).toBeGreaterThan(200);
    expect(rules.filter((rule) => !cited.has(rule))).toEqual([]);
  });

  it('has the rules that tests cite', () => {
    const wrong = citingTests().filter(({ anchors }) => anchors.some((anchor) => !rules.includes(anchor)));
    expect(wrong).toEqual([]);
  });
});

describe('a citation', () => {
  it('belongs to the test or group right below it, and to nothing else', () => {
    const text = `
      // docs/reference/rest-api.md#paging
      describe('lists', () => {
        // docs/reference/rest-api.md#cursors #page-info
        it.each([[1]])('of %i', () => {
          // docs/reference/rest-api.md#etag
          expect(1).toBe(1);
        });
        it('of nothing', () => {});
      });`;
    expect(citingTestsIn('a.spec.ts', text)).toEqual([
      { file: 'a.spec.ts', titles: ['lists'], anchors: ['paging'] },
      { file: 'a.spec.ts', titles: ['lists', 'of %i'], anchors: ['cursors', 'page-info'] },
    ]);
  });
});
