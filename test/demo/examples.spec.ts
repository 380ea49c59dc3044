import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { example } from '#test/harness/paths.js';

interface FeedComponent {
  readonly methods: { parse(this: { url: string }, xml: string): readonly Record<string, unknown>[] };
}

describe('the feed example', () => {
  const parse = async (xml: string): Promise<readonly Record<string, unknown>[]> => {
    const module = (await import(pathToFileURL(example('feed', 'component.mjs')).href)) as { default: FeedComponent };
    return module.default.methods.parse.call({ url: 'http://feed.example/' }, xml);
  };

  it('reads Atom', async () => {
    const items = await parse(readFileSync(example('feeds', 'releases.atom'), 'utf8'));
    expect(items).toHaveLength(18);
    expect(items[0]).toEqual({
      id: 'tag:harbour.example,2025:/releases/v1.8.1',
      title: 'v1.8.1: Print the log in landscape',
      link: 'https://harbour.example/releases/v1.8.1?from=feed&lang=en',
      published: '2025-11-03T14:02:36Z',
      author: 'harbour-bot',
      content: '<p>The column of remarks was cut off on A4.</p>',
    });
    expect(new Set(items.map(({ id }) => id)).size).toBe(18);
  });

  it('reads RSS, with CDATA and its own form of dates', async () => {
    const items = await parse(readFileSync(example('feeds', 'notices.rss'), 'utf8'));
    expect(items).toHaveLength(6);
    expect(items.at(-2)).toEqual({
      id: 'notice-2025-032',
      title: 'Buoy 14 off station',
      link: 'https://harbour.example/notices/notice-2025-032',
      published: '2025-03-04T16:25:00.000Z',
      author: 'Harbour office',
      content: '<p>Buoy 14 drifted about <b>200 m</b> to the west. Keep to the marked channel & watch channel 12.</p>',
    });
  });

  it('accepts a feed without items, and refuses other texts by their first words', async () => {
    expect(await parse('<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"></feed>')).toEqual([]);
    await expect(parse('<!doctype html><html>')).rejects.toThrow('http://feed.example/ is neither an Atom nor an RSS');
  });
});
