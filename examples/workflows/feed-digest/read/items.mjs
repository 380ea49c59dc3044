/** The items of an Atom or RSS feed, newest first as in the feed. A few patterns are enough for a title and a link. */
export const itemsOf = (xml) => {
  const entries = blocksOf(xml, 'entry');
  const items = entries.length > 0 ? entries : blocksOf(xml, 'item');
  return items.map((item) => {
    const link = /<link\b[^>]*\bhref="([^"]*)"/.exec(item)?.[1] ?? textOf(item, 'link');
    return { id: textOf(item, 'id') || textOf(item, 'guid') || link, title: textOf(item, 'title'), link };
  });
};

const blocksOf = (xml, tag) =>
  [...xml.matchAll(new RegExp(`<${tag}(?:\\s[^>]*)?>([\\s\\S]*?)</${tag}>`, 'g'))].map(([, inner]) => inner);

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const textOf = (xml, tag) =>
  (blocksOf(xml, tag)[0] ?? '')
    .replace(/^\s*<!\[CDATA\[([\s\S]*?)\]\]>\s*$/, '$1')
    .replace(/&(amp|lt|gt|quot|apos);/g, (_, name) => ENTITIES[name])
    .trim();
