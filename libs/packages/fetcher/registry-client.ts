import { createHash, type Hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { urlIn } from '#libs/kernel/url-text.js';
import { type RegistryRules } from '../registry-rules.js';
import { wrongShape } from './json-shape.js';
import { type FetchOrder } from './message.js';

/** A package that is not available. The message is for the author of the component, and names the package. */
export class Refusal extends Error {
  /** Distinguishes this error from those of npm's resolver. */
  readonly code = 'SLUICE_REFUSED';

  constructor(
    readonly packageName: string,
    message: string,
  ) {
    super(message);
  }
}

/** Size limit of the description of one package with all its versions, unpacked. */
const PACKUMENT_BYTES = 64 * 1024 * 1024;
const REDIRECTS = 5;
const TRIES = 3;
const RETRY_MS = 300;

/** Requests descriptions and tarballs from registries. Each request is checked against the rules, redirects too. */
export class RegistryClient {
  constructor(
    private readonly rules: RegistryRules,
    private readonly ask: typeof fetch,
  ) {}

  async packument(name: string, signal: AbortSignal): Promise<unknown> {
    const { url } = this.rules.ruleOf(name);
    const response = await this.get(name, new URL(`${url}/${name.replace('/', '%2f')}`), 'application/json', signal);
    const chunks: Buffer[] = [];
    await this.read(name, response, PACKUMENT_BYTES, 'its description', (chunk) => {
      chunks.push(chunk);
      return Promise.resolve();
    });
    const text = Buffer.concat(chunks);
    const wrong = wrongShape(text);
    if (wrong !== undefined)
      throw new Refusal(name, `the description of the npm package "${name}" at ${hostOf(url)} ${wrong}`);
    try {
      return JSON.parse(text.toString('utf8')) as unknown;
    } catch {
      throw new Refusal(name, `the description of the npm package "${name}" at ${hostOf(url)} is no JSON`);
    }
  }

  /** Downloads a tarball to a file and checks its integrity. Returns its size. */
  async tarball(
    { name, version, resolved, integrity, file, maxBytes }: FetchOrder,
    signal: AbortSignal,
  ): Promise<number> {
    const url = this.rules.tarballUrl(name, resolved);
    if (!url)
      throw new Refusal(
        name,
        `the tarball of the npm package "${name}@${version}" is at ${hostOf(resolved)}, which is neither its registry nor one of the tarball hosts listed for it`,
      );
    const response = await this.get(name, url, 'application/octet-stream', signal, { 'accept-encoding': 'identity' });
    const [algorithm = '', digest] = integrity.split(/-(.*)/s);
    const hash: Hash = createHash(algorithm);
    const target = await open(file, 'wx', 0o644);
    try {
      const bytes = await this.read(name, response, maxBytes, `the tarball of version ${version}`, async (chunk) => {
        hash.update(chunk);
        await target.write(chunk);
      });
      if (hash.digest('base64') !== digest)
        throw new Refusal(
          name,
          `the tarball of the npm package "${name}@${version}" does not match its integrity ${integrity.slice(0, 20)}…: it was changed after it was published, or on its way`,
        );
      return bytes;
    } finally {
      await target.close();
    }
  }

  private async get(
    name: string,
    first: URL,
    accept: string,
    signal: AbortSignal,
    further: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    let url = first;
    for (let redirects = 0; redirects <= REDIRECTS; redirects++) {
      if (!this.rules.allows(name, url))
        throw new Refusal(
          name,
          `the registry sends the request for the npm package "${name}" to ${url.host}, which is not allowed`,
        );
      const token = this.rules.tokenFor(name, url);
      const response = await this.tried(name, url, signal, {
        accept,
        'user-agent': 'sluice',
        ...further,
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      });
      const location = response.headers.get('location');
      if (response.status < 300 || response.status > 399 || location === null) return this.checked(name, url, response);
      await response.body?.cancel();
      const next = urlIn(location, url);
      if (!next) break;
      url = next;
    }
    throw new Refusal(name, `the registry redirects the request for the npm package "${name}" too often`);
  }

  /** Tries again after a failure that may pass. */
  private async tried(name: string, url: URL, signal: AbortSignal, headers: Record<string, string>): Promise<Response> {
    for (let tries = 1; ; tries++) {
      try {
        const response = await this.ask(url, { headers, signal, redirect: 'manual' });
        if (tries === TRIES || (response.status < 500 && response.status !== 429)) return response;
        await response.body?.cancel();
      } catch (error) {
        if (signal.aborted) throw error;
        if (tries === TRIES)
          throw new Refusal(
            name,
            `the registry ${url.host} cannot be reached for the npm package "${name}" (${reasonOf(error)}): try again, or check SLUICE_NPM_REGISTRY and SLUICE_NPM_SCOPES`,
          );
      }
      await pause(RETRY_MS * tries, undefined, { signal });
    }
  }

  private async checked(name: string, url: URL, response: Response): Promise<Response> {
    const { status } = response;
    if (status === 200) return response;
    await response.body?.cancel();
    if (status === 404) throw new Refusal(name, `there is no npm package "${name}" at ${url.host}: check its spelling`);
    if (status === 401 || status === 403)
      throw new Refusal(
        name,
        `the registry ${url.host} refuses access to the npm package "${name}" (${status}): the operator gives its token in SLUICE_NPM_TOKEN or SLUICE_NPM_SCOPES`,
      );
    throw new Refusal(
      name,
      `the registry ${url.host} answered ${status} for the npm package "${name}": try again later`,
    );
  }

  private async read(
    name: string,
    response: Response,
    limit: number,
    what: string,
    take: (chunk: Buffer) => Promise<void>,
  ): Promise<number> {
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      const part = Buffer.from(chunk as Uint8Array);
      bytes += part.length;
      if (bytes > limit)
        throw new Refusal(name, `the npm package "${name}" is too large: ${what} exceeds the limit of ${limit} bytes`);
      await take(part);
    }
    return bytes;
  }
}

const hostOf = (url: string): string => (urlIn(url)?.host ?? 'no URL').slice(0, 255);

const reasonOf = (error: unknown): string => {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (typeof cause === 'object' && cause !== null && 'code' in cause) return String(cause.code).slice(0, 50);
  return cause instanceof Error ? cause.message.slice(0, 100) : 'no reason given';
};
