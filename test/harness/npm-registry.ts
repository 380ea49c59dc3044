import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Header, Pax, type HeaderData } from 'tar';
import { gzipSync } from 'node:zlib';
import { endsWithUs } from './ends-with-us.js';
import { ROOT } from './paths.js';
import { removeDir, tempDir } from './temp-dir.js';

export interface PublishOptions {
  readonly dependencies?: Readonly<Record<string, string>>;
  /** Further fields of package.json, such as `scripts` or `peerDependencies`. */
  readonly manifest?: Readonly<Record<string, unknown>>;
  /** Time of publication. Default: a year ago. */
  readonly time?: Date;
  /** Whole tarball, instead of one made of the files. */
  readonly tarball?: Buffer;
  /** Tag that names this version. Default: latest. */
  readonly tag?: string;
}

export interface NpmRegistryOptions {
  /** Scopes that only callers with a token may read, such as `@acme`. */
  readonly privateScopes?: readonly string[];
}

export interface TarEntry {
  readonly path: string;
  readonly content?: string | Buffer;
  readonly header?: Partial<HeaderData>;
}

const OUTPUT_KEPT = 4_000_000;
const A_YEAR = 365 * 24 * 3_600_000;

/** An npm registry (verdaccio) on loopback, in a process of its own. It asks no other registry. */
export class NpmRegistry {
  private readonly folder = tempDir('registry');
  private child: ChildProcess | undefined;
  private output = '';

  private constructor(
    /** `http://127.0.0.1:<port>` */
    readonly url: string,
    private readonly port: number,
  ) {}

  static async start(options: NpmRegistryOptions = {}): Promise<NpmRegistry> {
    const port = await freePort();
    const registry = new NpmRegistry(`http://127.0.0.1:${port}`, port);
    await registry.launch(options);
    return registry;
  }

  /** Publishes a version. `files` are texts by path. package.json is made of name, version and options. */
  async publish(
    name: string,
    version: string,
    files: Readonly<Record<string, string>> = { 'index.js': `module.exports = '${name}@${version}';\n` },
    options: PublishOptions = {},
  ): Promise<void> {
    const { dependencies, manifest = {}, time = new Date(Date.now() - A_YEAR), tag = 'latest' } = options;
    const described = { name, version, ...(dependencies === undefined ? {} : { dependencies }), ...manifest };
    const tarball =
      options.tarball ??
      tarballOf([
        { path: 'package/package.json', content: JSON.stringify(described) },
        ...Object.entries(files).map(([path, content]) => ({ path: `package/${path}`, content })),
      ]);
    const file = `${name.replace(/^.*\//, '')}-${version}.tgz`;
    const dist = {
      integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
      shasum: createHash('sha1').update(tarball).digest('hex'),
      tarball: `${this.url}/${name}/-/${file}`,
    };
    const response = await fetch(`${this.url}/${name.replace('/', '%2f')}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', ...this.authorization() },
      body: JSON.stringify({
        _id: name,
        name,
        'dist-tags': { [tag]: version },
        versions: { [version]: { ...described, _id: `${name}@${version}`, dist } },
        _attachments: {
          [file]: {
            content_type: 'application/octet-stream',
            data: tarball.toString('base64'),
            length: tarball.length,
          },
        },
      }),
    });
    if (!response.ok) throw new Error(`publishing ${name}@${version}: ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
    this.edit(name, (stored) => {
      (stored.time as Record<string, string>)[version] = time.toISOString();
    });
  }

  /** Changes what the registry stores about a package, such as the integrity of a version. */
  edit(name: string, change: (stored: Record<string, unknown>) => void): void {
    const file = join(this.folder, 'storage', name, 'package.json');
    const stored = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    change(stored);
    writeFileSync(file, JSON.stringify(stored));
  }

  /** Replaces the bytes of a published tarball, and leaves its description as it is. */
  replaceTarball(name: string, version: string, tarball: Buffer): void {
    const file = join(this.folder, 'storage', name, `${name.replace(/^.*\//, '')}-${version}.tgz`);
    writeFileSync(file, tarball);
  }

  /** Token with which private scopes can be read. */
  token = '';

  /** Paths that were requested so far, decoded, in order. */
  requests(): readonly string[] {
    return [...this.output.matchAll(/requested '(?:GET|PUT|HEAD) ([^' ]+)'/g)].map(([, path = '']) =>
      decodeURIComponent(path),
    );
  }

  async stop(): Promise<void> {
    const child = this.child;
    this.child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Stops it and removes its packages. */
  async close(): Promise<void> {
    await this.stop();
    removeDir(this.folder);
  }

  private authorization(): Record<string, string> {
    return this.token === '' ? {} : { authorization: `Bearer ${this.token}` };
  }

  private async launch({ privateScopes = [] }: NpmRegistryOptions): Promise<void> {
    const file = join(this.folder, 'config.json');
    const closed = Object.fromEntries(
      privateScopes.map((scope) => [`${scope}/*`, { access: '$authenticated', publish: '$authenticated' }]),
    );
    mkdirSync(dirname(file), { recursive: true });
    // YAML is a superset of JSON.
    writeFileSync(
      file,
      JSON.stringify({
        storage: join(this.folder, 'storage'),
        auth: { htpasswd: { file: join(this.folder, 'users') } },
        uplinks: {},
        packages: { ...closed, '**': { access: '$all', publish: '$all' } },
        max_body_size: '200mb',
        web: { enable: false },
        log: { type: 'stdout', format: 'json', level: 'http' },
      }),
    );
    const program = join(ROOT, 'node_modules/verdaccio/bin/verdaccio');
    const child = spawn(process.execPath, [program, '-c', file, '-l', `127.0.0.1:${this.port}`], {
      cwd: this.folder,
      env: { HOME: this.folder, PATH: process.env.PATH ?? '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    endsWithUs(child);
    const keep = (chunk: Buffer): void => {
      this.output = (this.output + chunk.toString()).slice(-OUTPUT_KEPT);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    this.child = child;
    await this.untilReady(child);
    await this.addUser();
  }

  private async untilReady(child: ChildProcess): Promise<void> {
    for (let tries = 0; tries < 600; tries++) {
      if (child.exitCode !== null) break;
      const ready = await fetch(`${this.url}/-/ping`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (ready) return;
      await pause(50);
    }
    throw new Error(`the registry did not start:\n${this.output.slice(0, 4_000)}`);
  }

  private async addUser(): Promise<void> {
    const response = await fetch(`${this.url}/-/user/org.couchdb.user:publisher`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'publisher', password: 'a-password-for-tests' }),
    });
    const { token } = (await response.json()) as { token?: string };
    if (token === undefined) throw new Error('the registry gave no token');
    this.token = token;
  }
}

/** A gzipped tarball of exactly these entries, hostile ones too. */
export const tarballOf = (entries: readonly TarEntry[]): Buffer => {
  const blocks: Buffer[] = [];
  for (const { path, content = '', header = {} } of entries) {
    const bytes = Buffer.from(content);
    const data: HeaderData = { path, mode: 0o644, type: 'File', size: bytes.length, mtime: new Date(0), ...header };
    const block = Buffer.alloc(512);
    // A path that does not fit into the header stands before it.
    if (new Header(data).encode(block, 0))
      blocks.push(new Pax({ path, ...(data.linkpath ? { linkpath: data.linkpath } : {}) }).encode());
    blocks.push(block, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512));
  }
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
};

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
};
