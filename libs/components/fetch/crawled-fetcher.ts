import { withDeadline } from '#libs/async/deadline.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { withoutEnding } from '#libs/kernel/text-search.js';
import { urlIn } from '#libs/kernel/url-text.js';
import { checkLimit } from '../domain/code-size.js';
import { DEFAULT_CODE_LIMITS, type CodeLimits, type ComponentFetcher, type FetchedComponent } from '../ports.js';
import { rawAddressHint } from './raw-address.js';
import { relativeImports } from './relative-imports.js';

/** Fetches the text at a URL. Rejects unless the answer is 2xx with text; the Error has the answer's `status`. */
export type FetchText = (
  url: string,
  /** Ends the fetch early, which then rejects. */
  signal?: AbortSignal,
) => Promise<{ readonly finalUrl: string; readonly text: string; readonly contentType?: string }>;

/** Endings in the bundler's order (libs/sandbox/bundler/imports.ts). */
const ENDINGS = ['', '.mjs', '.js', '.cjs', '.ts', '.json', '/index.mjs', '/index.js', '/index.ts'];
const AT_ONCE = 6;
/** Addresses that a crawl may request per file that it may keep. Most names are tried with several endings. */
const ADDRESSES_PER_FILE = 5;
/** Time limit of a component with everything that it imports. */
const CRAWL_MS = 30_000;

/**
 * Fetches a component and, from the same origin, everything that it imports by a relative path. See
 * docs/reference/rest-api.md#component-relative-imports.
 */
export const crawledFetcher = (
  fetchText: FetchText,
  limits: CodeLimits = DEFAULT_CODE_LIMITS,
  timeoutMs = CRAWL_MS,
): ComponentFetcher => ({
  fetch: async (url) => {
    checkUrl(url);
    const aborter = new AbortController();
    const one: FetchText = (each) => fetchText(each, aborter.signal);
    const whole = async (): Promise<FetchedComponent> => {
      const entry = await fetched(one, url);
      checkIsCode(entry);
      return new Crawl(one, limits, new URL(entry.finalUrl), entry.text, aborter.signal).run();
    };
    const late = (): DomainError => {
      const text = `${url.slice(0, 200)} and what it imports did not arrive within ${timeoutMs} ms`;
      return unusable(text, url);
    };
    try {
      return await withDeadline(whole(), timeoutMs, late);
    } finally {
      aborter.abort();
    }
  },
});

/**
 * Reads a file and everything that it imports by a relative path, through `fetchText`, which gets URLs of the same origin
 * as `url`. Rejects as ComponentFetcher does.
 */
export const crawled = async (fetchText: FetchText, limits: CodeLimits, url: string): Promise<FetchedComponent> => {
  const { finalUrl, text } = await fetched(fetchText, url);
  return new Crawl(fetchText, limits, new URL(finalUrl), text).run();
};

interface Wanted {
  /** Imported URL. It is tried unchanged, then with the usual endings. */
  readonly url: URL;
  readonly depth: number;
}

class Crawl {
  private readonly files = new Map<string, string>();
  private readonly asked = new Set<string>();
  private readonly missing: string[] = [];
  private bytes: number;

  constructor(
    private readonly fetchText: FetchText,
    private readonly limits: CodeLimits,
    private readonly base: URL,
    private readonly code: string,
    private readonly signal?: AbortSignal,
  ) {
    this.bytes = Buffer.byteLength(code);
  }

  async run(): Promise<FetchedComponent> {
    checkLimit(`component code at ${this.base.href}`, this.bytes, this.limits.fileBytes, 'bytes');
    this.asked.add(this.base.href);
    let wanted = this.wantedBy(this.code, this.base, 1);
    while (wanted.length > 0) {
      const next: Wanted[] = [];
      for (let i = 0; i < wanted.length; i += AT_ONCE) {
        this.signal?.throwIfAborted();
        const found = await Promise.all(wanted.slice(i, i + AT_ONCE).map((one) => this.read(one)));
        next.push(...found.flat());
      }
      wanted = next;
    }
    return {
      code: this.code,
      fileName: pathOf(this.base),
      finalUrl: this.base.href,
      ...(this.files.size > 0 ? { files: Object.fromEntries(this.files) } : {}),
      ...(this.missing.length > 0 ? { missing: this.missing } : {}),
    };
  }

  private wantedBy(code: string, from: URL, depth: number): Wanted[] {
    const wanted: Wanted[] = [];
    for (const specifier of relativeImports(code)) {
      const url = new URL(specifier, from);
      url.hash = '';
      if (url.origin !== this.base.origin || this.asked.has(url.href)) continue;
      this.asked.add(url.href);
      const addresses = `addresses imported from ${this.base.href}`;
      checkLimit(addresses, this.asked.size, this.limits.files * ADDRESSES_PER_FILE, 'addresses');
      wanted.push({ url, depth });
    }
    if (wanted.length > 0 && depth > this.limits.depth) {
      throw unusable(`${from.href} is imported through ${depth} files, the limit is ${this.limits.depth}`, from.href);
    }
    return wanted;
  }

  private async read({ url, depth }: Wanted): Promise<Wanted[]> {
    let failure: unknown;
    for (const candidate of candidatesOf(url)) {
      this.signal?.throwIfAborted();
      try {
        const { text } = await this.fetchText(candidate.href);
        return this.keep(candidate, text, depth);
      } catch (error) {
        if (!isAbsent(error)) throw asUnusable(error, candidate.href);
        failure ??= error;
      }
    }
    this.missing.push(messageOf(failure));
    return [];
  }

  private keep(url: URL, text: string, depth: number): Wanted[] {
    const path = pathOf(url);
    if (this.files.has(path)) return [];
    const size = Buffer.byteLength(text);
    checkLimit(`file ${url.href}`, size, this.limits.fileBytes, 'bytes');
    checkLimit(`files imported from ${this.base.href}`, this.files.size + 1, this.limits.files, 'files');
    this.bytes += size;
    checkLimit(`all files of ${this.base.href}`, this.bytes, this.limits.totalBytes, 'bytes');
    this.files.set(path, text);
    return path.endsWith('.json') ? [] : this.wantedBy(text, url, depth + 1);
  }
}

const candidatesOf = (url: URL): readonly URL[] => {
  const { pathname } = url;
  // TypeScript code imports a .ts file by the name of its compiled .js file.
  const paths = /\.[cm]?js$/.test(pathname)
    ? [pathname, pathname.replace(/js$/, 'ts')]
    : /\.(?:[cm]?ts|json)$/.test(pathname)
      ? [pathname]
      : ENDINGS.map((ending) => withoutEnding(pathname, '/') + ending);
  return paths.map((path) => {
    const candidate = new URL(url);
    candidate.pathname = path;
    return candidate;
  });
};

const pathOf = (url: URL): string => decodeURIComponent(url.pathname).replace(/^\/+/, '') || 'component.js';

const checkUrl = (url: string): void => {
  if (['http:', 'https:'].includes(urlIn(url)?.protocol ?? '')) return;
  const text = `parameter component_url must be an http or https URL; got ${url.slice(0, 200)}`;
  throw new DomainError('request.invalid_parameter', text, { field: 'component_url', actual: url.slice(0, 200) });
};

/** Throws component.url_unusable for a web page, which no component begins like. */
const checkIsCode = ({ finalUrl, text, contentType = '' }: Awaited<ReturnType<FetchText>>): void => {
  const isPage = /^\s*<(!doctype\s+html|html[\s>])/i.test(text.slice(0, 2_000));
  if (!isPage && !(contentType === 'text/html' && /^\s*<[!a-z]/i.test(text.slice(0, 2_000)))) return;
  const type = contentType === '' ? 'HTML' : contentType;
  throw unusable(`${finalUrl} is a web page (${type}), not code: ${rawAddressHint(finalUrl)}`, finalUrl);
};

const fetched = async (fetchText: FetchText, url: string): ReturnType<FetchText> => {
  try {
    return await fetchText(url);
  } catch (error) {
    throw asUnusable(error, url);
  }
};

/** 404 and 410 mean that the file does not exist. A retry may fix any other failure. */
const isAbsent = (error: unknown): boolean => [404, 410].includes(statusOf(error) ?? 0);

const statusOf = (error: unknown): number | undefined => {
  const status: unknown = error instanceof Error && 'status' in error ? error.status : undefined;
  return typeof status === 'number' ? status : undefined;
};

const asUnusable = (error: unknown, url: string): unknown => {
  if (error instanceof DomainError || !(error instanceof Error)) return error;
  const finalUrl = 'finalUrl' in error && typeof error.finalUrl === 'string' ? error.finalUrl : url;
  return unusable(error.message, finalUrl, statusOf(error));
};

const unusable = (message: string, url: string, status?: number): DomainError =>
  new DomainError('component.url_unusable', `component_url cannot be used: ${message}`, {
    field: 'component_url',
    url,
    ...(status === undefined ? {} : { status }),
  });
