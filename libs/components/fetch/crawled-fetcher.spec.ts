import { describe, expect, it } from '@jest/globals';
import { crawledFetcher, type FetchText } from './crawled-fetcher.js';
import { relativeImports } from './relative-imports.js';

const BASE = 'https://raw.example.com/repo/main/components/app';

class Answered extends Error {
  constructor(
    readonly finalUrl: string,
    readonly status: number,
  ) {
    super(`${finalUrl} answered ${status}, expected 200`);
  }
}

/** Serves files by path below BASE, and records the fetched URLs. */
const web = (files: Readonly<Record<string, string>>, redirects: Readonly<Record<string, string>> = {}) => {
  const asked: string[] = [];
  const fetchText: FetchText = async (url) => {
    asked.push(url);
    const finalUrl = redirects[url] ?? url;
    const text = finalUrl.startsWith(`${BASE}/`) ? files[finalUrl.slice(BASE.length + 1)] : undefined;
    if (text === undefined) throw new Answered(finalUrl, 404);
    return { finalUrl, text };
  };
  return { asked, fetchText };
};

describe('relativeImports', () => {
  it('finds every form of relative import, and no package', () => {
    const code = `
      import a from './a.mjs'; import {b} from "../b.mjs"; import './c.mjs'; export * from './d.mjs';
      const e = await import('./e.mjs'); const f = require("./f"); import g from 'lodash'; require('node:fs');
      import h from '../..'; import multi, {
        line,
      } from './i.mjs'`;
    expect([...relativeImports(code)].sort()).toEqual(
      ['../..', '../b.mjs', './a.mjs', './c.mjs', './d.mjs', './e.mjs', './f', './i.mjs'].sort(),
    );
  });
});

describe('imports of hostile code', () => {
  // A pattern such as /\/+$/ takes hours for this path.
  it('are no longer than a URL, however long their text is', () => {
    const code = `import './${'/'.repeat(8_000_000)}x'; import './ok.mjs'; ${'from'.repeat(1_000_000)} ${' '.repeat(1_000_000)}`;
    expect(relativeImports(code)).toEqual(['./ok.mjs']);
  });
});

describe('crawledFetcher', () => {
  it('fetches the file and all its imports, each once, by their paths', async () => {
    const { asked, fetchText } = web({
      'sources/new/new.mjs': `import app from '#libs/x.app.mjs'; import c from '../common.mjs'; import d from './data.json'`,
      'x.app.mjs': `import c from './sources/common.mjs'`,
      'sources/common.mjs': `import app from '../x.app.mjs'`,
      'sources/new/data.json': `{"from": "./no.mjs"}`,
    });
    const fetched = await crawledFetcher(fetchText).fetch(`${BASE}/sources/new/new.mjs`);
    expect(fetched.fileName).toBe('repo/main/components/app/sources/new/new.mjs');
    expect(Object.keys(fetched.files ?? {}).sort()).toEqual([
      'repo/main/components/app/sources/common.mjs',
      'repo/main/components/app/sources/new/data.json',
      'repo/main/components/app/x.app.mjs',
    ]);
    expect(new Set(asked).size).toBe(asked.length);
  });

  it('resolves imports against the URL after redirects', async () => {
    const short = 'https://example.com/short';
    const { fetchText } = web(
      { 'a/main.mjs': `import './lib.mjs'`, 'a/lib.mjs': 'lib' },
      { [short]: `${BASE}/a/main.mjs` },
    );
    const fetched = await crawledFetcher(fetchText).fetch(short);
    expect(fetched.finalUrl).toBe(`${BASE}/a/main.mjs`);
    expect(Object.values(fetched.files ?? {})).toEqual(['lib']);
  });

  // docs/reference/rest-api.md#component-relative-imports
  it('finds imports without an ending, and .ts behind .js', async () => {
    const { fetchText } = web({
      'main.ts': `import './util'; import './types.js'; import './dir'`,
      'util.js': 'u',
      'types.ts': 't',
      'dir/index.mjs': 'd',
    });
    const fetched = await crawledFetcher(fetchText).fetch(`${BASE}/main.ts`);
    expect(Object.values(fetched.files ?? {}).sort()).toEqual(['d', 't', 'u']);
  });

  // docs/reference/rest-api.md#component-relative-imports
  it('reports a missing import without failing, because it may be in a comment', async () => {
    const { fetchText } = web({ 'main.mjs': `// import x from './gone.mjs'\n` });
    const fetched = await crawledFetcher(fetchText).fetch(`${BASE}/main.mjs`);
    expect(fetched.missing).toEqual([`${BASE}/gone.mjs answered 404, expected 200`]);
    expect(fetched.files).toBeUndefined();
  });

  it('reports URL and status when the component itself is missing', async () => {
    const { fetchText } = web({});
    await expect(crawledFetcher(fetchText).fetch(`${BASE}/main.mjs`)).rejects.toMatchObject({
      code: 'component.url_unusable',
      details: { url: `${BASE}/main.mjs`, status: 404 },
    });
  });

  it('fails when an import cannot be fetched for another reason', async () => {
    const { fetchText } = web({ 'main.mjs': `import './lib.mjs'` });
    const flaky: FetchText = (url) =>
      url.endsWith('lib.mjs') ? Promise.reject(new Answered(url, 503)) : fetchText(url);
    await expect(crawledFetcher(flaky).fetch(`${BASE}/main.mjs`)).rejects.toMatchObject({
      code: 'component.url_unusable',
      details: { status: 503 },
    });
  });

  it.each(['file:///etc/passwd', 'git://example.com/a', 'not a url', ''])('refuses %p', async (url) => {
    const { asked, fetchText } = web({});
    await expect(crawledFetcher(fetchText).fetch(url)).rejects.toMatchObject({ code: 'request.invalid_parameter' });
    expect(asked).toEqual([]);
  });

  it.each([
    ['a file', { fileBytes: 60 }, 'component.too_large'],
    ['the number of files', { files: 1 }, 'component.too_large'],
    ['all together', { totalBytes: 100 }, 'component.too_large'],
    ['the depth', { depth: 1 }, 'component.url_unusable'],
  ])('keeps the limit of %s', async (_, over, code) => {
    const { fetchText } = web({
      'main.mjs': `import './a.mjs'; import './b.mjs'`,
      'a.mjs': `import './c.mjs' // ${'x'.repeat(50)}`,
      'b.mjs': '',
      'c.mjs': '',
    });
    const limits = { fileBytes: 1_000, files: 10, totalBytes: 2_000, depth: 5, ...over };
    await expect(crawledFetcher(fetchText, limits).fetch(`${BASE}/main.mjs`)).rejects.toMatchObject({ code });
  });

  // docs/reference/limits.md#component-crawl
  it('ends after its time limit, however many addresses answer late, and asks for no more', async () => {
    const asked: string[] = [];
    const fetchText: FetchText = async (url, signal) => {
      asked.push(url);
      if (url.endsWith('main.mjs')) return { finalUrl: url, text: `import './a.mjs'; import './b.mjs'` };
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Answered(url, 404))));
    };
    const failure = crawledFetcher(fetchText, undefined, 30).fetch(`${BASE}/main.mjs`);
    await expect(failure).rejects.toMatchObject({
      code: 'component.url_unusable',
      details: { field: 'component_url' },
    });
    await expect(failure).rejects.toThrow('main.mjs and what it imports did not arrive within 30 ms');
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked).toHaveLength(3);
  });

  it('refuses more addresses of one file under many queries than files explain', async () => {
    const many = Array.from({ length: 60 }, (_, i) => `import './a.mjs?${i}'`).join('; ');
    const { asked, fetchText } = web({ 'main.mjs': many });
    const limits = { fileBytes: 10_000, files: 10, totalBytes: 20_000, depth: 5 };
    await expect(crawledFetcher(fetchText, limits).fetch(`${BASE}/main.mjs`)).rejects.toMatchObject({
      code: 'component.too_large',
      details: { limit: 50 },
    });
    expect(asked).toHaveLength(1);
  });
});
