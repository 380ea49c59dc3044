import { test } from 'node:test';
import { given } from 'sluice/test';

const url = 'https://news.example.com/feed.atom';
const feed = (...ids) =>
  `<feed>${ids.map((id) => `<entry><id>${id}</id><title>Entry ${id}</title></entry>`).join('')}</feed>`;

test('emits each entry once', async () => {
  const http = [
    { url, times: 1, reply: { body: feed(1) } },
    { url, reply: { body: feed(2, 1) } },
  ];
  const outcome = await given('./component.mjs', { props: { url }, http }).when({ after: '30m' });
  outcome.expect({ emits: [{ id: '1' }, { id: '2', summary: 'Entry 2' }], dropped: [{ id: '1' }] });
});
