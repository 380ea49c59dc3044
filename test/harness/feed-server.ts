import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';

/** Serves a saved Atom feed of which only the oldest items are published. Answers conditional requests. */
export class FeedServer {
  requests = 0;
  notModified = 0;
  /** Number of items in all full answers together. */
  itemsServed = 0;
  private shown = 0;

  private constructor(
    private readonly server: Server,
    readonly url: string,
    private readonly head: string,
    /** Items newest first, as in the file. */
    private readonly entries: readonly string[],
    private readonly tail: string,
  ) {}

  static async start(xml: string): Promise<FeedServer> {
    const entries = xml.match(/[ \t]*<entry>[\s\S]*?<\/entry>\n/g) ?? [];
    const head = xml.slice(0, xml.indexOf(entries[0] ?? '\0'));
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/feed.atom`;
    const feed = new FeedServer(server, url, head, entries, xml.slice(head.length + entries.join('').length));
    server.on('request', (request, response) => {
      feed.requests++;
      const body = feed.body();
      const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`;
      if (request.headers['if-none-match'] === etag) {
        feed.notModified++;
        response.writeHead(304, { etag }).end();
        return;
      }
      feed.itemsServed += feed.shown;
      response.writeHead(200, { 'content-type': 'application/atom+xml; charset=utf-8', etag }).end(body);
    });
    return feed;
  }

  get total(): number {
    return this.entries.length;
  }

  /** Grows the feed to `count` items. */
  publish(count: number): void {
    this.shown = Math.min(count, this.entries.length);
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  private body(): string {
    return this.head + this.entries.slice(this.entries.length - this.shown).join('') + this.tail;
  }
}
