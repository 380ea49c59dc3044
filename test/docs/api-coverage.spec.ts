import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '#test/harness/paths.js';
import { apiCoverage, citingTests, citingTestsIn, rulesBySection } from './api-coverage.js';

describe('docs/reference/rest-api.md', () => {
  const rules = rulesBySection().flatMap(({ anchors }) => anchors);

  it('has a test for each rule', () => {
    const cited = new Set(citingTests().flatMap(({ anchors }) => anchors));
    expect(rules.length).toBeGreaterThan(200);
    expect(rules.filter((rule) => !cited.has(rule))).toEqual([]);
  });

  it('has the rules that tests cite', () => {
    const wrong = citingTests().filter(({ anchors }) => anchors.some((anchor) => !rules.includes(anchor)));
    expect(wrong).toEqual([]);
  });

  it('and its tests are listed in api-coverage.md (fix: npm run docs:reference)', () => {
    expect(readFileSync(join(ROOT, 'docs/reference/api-coverage.md'), 'utf8')).toBe(apiCoverage());
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
