// Polls an Atom or RSS feed and emits each new item once. Needs no npm package: feeds are read with a few patterns.
export default {
  name: 'Feed',
  key: 'feed',
  version: '0.1.0',
  description: 'Emits each new item of an Atom or RSS feed.',
  // The ids of the last 100 items are remembered, so at most the 100 newest of a feed are looked at.
  dedupe: 'unique',
  props: {
    url: {
      type: 'string',
      label: 'Feed address',
      description: 'An http or https address of an Atom or RSS feed.',
    },
    timer: { type: '$.interface.timer', default: { intervalSeconds: 900 } },
    db: '$.service.db',
  },
  methods: {
    /** Asks only for what changed since the last poll. Gives undefined when nothing did. */
    async download() {
      const { etag, lastModified } = this.db.get('validators') ?? {};
      const response = await fetch(this.url, {
        headers: {
          accept: 'application/atom+xml, application/rss+xml, application/xml;q=0.9, */*;q=0.1',
          ...(etag ? { 'if-none-match': etag } : {}),
          ...(lastModified ? { 'if-modified-since': lastModified } : {}),
        },
        signal: AbortSignal.timeout(20_000),
      });
      if (response.status === 304) return undefined;
      if (!response.ok) throw new Error(`${this.url} answered ${response.status}`);
      return {
        xml: await response.text(),
        validators: { etag: response.headers.get('etag'), lastModified: response.headers.get('last-modified') },
      };
    },
    parse(xml) {
      const items = blocksOf(xml, 'entry').map(atomItem);
      if (items.length === 0) items.push(...blocksOf(xml, 'item').map(rssItem));
      if (items.length === 0 && !/<(feed|rss|rdf:RDF)[\s>]/.test(xml)) {
        throw new Error(
          `${this.url} is neither an Atom nor an RSS feed; it starts with ${JSON.stringify(xml.slice(0, 80))}`,
        );
      }
      return items;
    },
  },
  async run() {
    const changed = await this.download();
    if (changed === undefined) {
      console.log(`${this.url}: not modified`);
      return;
    }
    const items = this.parse(changed.xml).slice(0, 100);
    console.log(`${this.url}: ${items.length} items`);
    for (const item of items) {
      // With ts the events leave oldest first, whatever the order in the feed.
      const ts = Date.parse(item.published ?? '') || undefined;
      this.$emit(item, { id: item.id, summary: item.title, ...(ts ? { ts } : {}) });
    }
    // Last: after a failure above the next poll must get the whole feed again.
    this.db.set('validators', changed.validators);
  },
};

const atomItem = (xml) => {
  const link = /<link\b(?![^>]*\brel="(?!alternate")[^"]*")[^>]*\bhref="([^"]*)"/.exec(xml)?.[1];
  return {
    id: textOf(xml, 'id') ?? link,
    title: textOf(xml, 'title') ?? '',
    link: link === undefined ? null : decoded(link),
    published: textOf(xml, 'published') ?? textOf(xml, 'updated') ?? null,
    author: textOf(blocksOf(xml, 'author')[0] ?? '', 'name') ?? null,
    content: textOf(xml, 'content') ?? textOf(xml, 'summary') ?? null,
  };
};

const rssItem = (xml) => {
  const link = textOf(xml, 'link') ?? null;
  return {
    id: textOf(xml, 'guid') ?? link,
    title: textOf(xml, 'title') ?? '',
    link,
    published: isoOf(textOf(xml, 'pubDate') ?? textOf(xml, 'dc:date')),
    author: textOf(xml, 'dc:creator') ?? textOf(xml, 'author') ?? null,
    content: textOf(xml, 'content:encoded') ?? textOf(xml, 'description') ?? null,
  };
};

const blocksOf = (xml, tag) =>
  [...xml.matchAll(new RegExp(`<${tag}(?:\\s[^>]*)?>([\\s\\S]*?)</${tag}>`, 'g'))].map(([, inner]) => inner);

const textOf = (xml, tag) => {
  const inner = blocksOf(xml, tag)[0];
  if (inner === undefined) return undefined;
  const cdata = /^\s*<!\[CDATA\[([\s\S]*?)\]\]>\s*$/.exec(inner);
  return cdata ? cdata[1] : decoded(inner.trim());
};

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const decoded = (text) =>
  text.replace(/&(#x[0-9a-f]+|#\d+|amp|lt|gt|quot|apos);/gi, (_whole, name) => {
    if (name[0] !== '#') return ENTITIES[name.toLowerCase()];
    const code = /^#x/i.test(name) ? parseInt(name.slice(2), 16) : Number(name.slice(1));
    return String.fromCodePoint(code);
  });

const isoOf = (date) => {
  const ms = Date.parse(date ?? '');
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
};
