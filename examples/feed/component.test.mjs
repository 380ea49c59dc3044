import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { given } from 'sluice/test';

const url = 'https://harbour.example/releases.atom';
const read = (name) => readFileSync(new URL(`../feeds/${name}`, import.meta.url), 'utf8');

test('emits each entry once, oldest first, and asks for what changed only', async () => {
  const http = [
    { url, times: 1, reply: { headers: { etag: '"v1"' }, body: read('releases.atom') } },
    {
      url,
      reply: ({ headers }) => ({ status: headers['if-none-match'] === '"v1"' ? 304 : 500 }),
    },
  ];
  const outcome = await given('./component.mjs', { props: { url }, http }).when({ after: '15m' }, { after: '15m' });
  const titles = outcome.emits.map(({ summary }) => summary);
  outcome.expect({
    error: undefined,
    dropped: [],
    db: { validators: { etag: '"v1"', lastModified: null } },
    requests: [{ url }, { url, headers: { 'if-none-match': '"v1"' } }],
  });
  if (titles.at(-1) !== 'v1.8.1: Print the log in landscape') throw new Error(`the newest came not last: ${titles}`);
});

test('reads RSS, and drops items that it emitted before', async () => {
  const http = [{ url, reply: { body: read('notices.rss') } }];
  const outcome = await given('./component.mjs', { props: { url }, http }).when({ tick: 'timer' }, { tick: 'timer' });
  outcome.expect({ error: undefined, dropped: outcome.emits.map(({ id }) => ({ id })) });
});

test('fails for a page that is no feed, and for an answer that is none', async () => {
  const page = await given('./component.mjs', { props: { url }, http: [{ url, reply: { body: '<html>' } }] }).when({
    tick: 'timer',
  });
  page.expect({ emits: [], error: { message: /is neither an Atom nor an RSS feed/ } });
  const gone = await given('./component.mjs', { props: { url }, http: [{ url, reply: { status: 410 } }] }).when({
    tick: 'timer',
  });
  gone.expect({ emits: [], error: { message: `${url} answered 410` } });
});
