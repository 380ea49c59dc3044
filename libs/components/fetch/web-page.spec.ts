import { describe, expect, it } from '@jest/globals';
import { crawledFetcher } from './crawled-fetcher.js';

const fetchedFrom = (url: string, text: string, contentType: string) =>
  crawledFetcher(async () => ({ finalUrl: url, text, contentType })).fetch(url);

describe('a component_url that gives a web page', () => {
  it.each([
    ['https://a.example/x', 'give the address of the raw file, which a site of code often links as "Raw"'],
    ['https://github.com/o/r/tree/main/x.mjs', 'give the raw file, https://raw.githubusercontent.com/o/r/main/x.mjs'],
    ['https://github.com/o/r', 'its raw form (https://raw.githubusercontent.com/OWNER/REPO/REF/PATH)'],
    ['https://gitlab.com/o/r/-/tree/main/x.mjs', 'give the raw file, https://gitlab.com/o/r/-/raw/main/x.mjs'],
    ['https://bitbucket.org/o/r/src/main/x.mjs', 'give the raw file, https://bitbucket.org/o/r/raw/main/x.mjs'],
  ])('is refused with the way to the raw file: %s', async (url, hint) => {
    const failure = fetchedFrom(url, '\n<!DOCTYPE html><html></html>', 'text/html');
    await expect(failure).rejects.toMatchObject({ code: 'component.url_unusable', details: { url } });
    await expect(failure).rejects.toThrow(`${url} is a web page (text/html), not code: `);
    await expect(failure).rejects.toThrow(hint);
  });

  it('is known by its text alone, and code by its text whatever its type', async () => {
    await expect(fetchedFrom('https://a.example/x', '<html><body>', 'text/plain')).rejects.toThrow(/is a web page/);
    const code = 'export default { name: "<html>" }';
    await expect(fetchedFrom('https://a.example/x.mjs', code, 'text/html')).resolves.toMatchObject({ code });
  });
});
