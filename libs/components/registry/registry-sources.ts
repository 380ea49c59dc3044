import { execFile } from 'node:child_process';
import { cp, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { NO_LICENCE, statedLicence } from '#libs/component-model/licences.js';

const run = promisify(execFile);

/** Where the components of one folder of the registry come from. */
export interface RegistrySource {
  readonly name: string;
  readonly from: string;
  readonly kind: 'folder' | 'git' | 'npm';
  /** Commit of a repository, version of a package, or null. */
  readonly revision: string | null;
  /** Licence in its package.json, else `none stated`, with the name of its licence file if it has one. */
  readonly license: string;
  /** Epoch milliseconds of the last copy. */
  readonly updatedAt: number;
}

/** Calls `use` with the files of an npm package, and removes them afterwards. */
export interface RegistryPackages {
  /** @param specifier `name` or `name@range`. Resolves with the version. Rejects with an error that names the package. */
  fetch(specifier: string, use: (folder: string) => Promise<void>): Promise<string>;
}

export interface RegistrySourcesOptions {
  readonly packages: RegistryPackages;
  /** Folder of the registry. It is made when it is missing. */
  readonly dir: string;
  readonly now: () => number;
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/;
const FACTS = '.source.json';
const NPM = 'npm:';
const GIT_TIMEOUT_MS = 300_000;
/** Folders without parts of components. */
const LEFT_OUT = new Set(['.git', 'node_modules']);

/**
 * Folders of components below the registry's own. Each is made elsewhere and then moved into place, so a running server
 * never sees an incomplete one.
 */
export class RegistrySources {
  constructor(private readonly options: RegistrySourcesOptions) {}

  /** Adds a folder, a git repository or an npm package. Rejects when the name is taken. */
  async add(from: string, name = nameOf(from)): Promise<RegistrySource> {
    checkName(name);
    if (await this.find(name)) {
      throw new Error(
        `the registry has ${name} already: give another --name, or run \`sluice registry update ${name}\``,
      );
    }
    return this.copy(from, name);
  }

  /** Copies the source again. */
  async update(name: string): Promise<RegistrySource> {
    const { from } = await this.must(name);
    return this.copy(from, name);
  }

  async remove(name: string): Promise<void> {
    await this.must(name);
    await rm(path.join(this.options.dir, name), { recursive: true });
  }

  async list(): Promise<readonly RegistrySource[]> {
    const entries = await readdir(this.options.dir, { withFileTypes: true }).catch(orNone);
    const found = await Promise.all(entries.filter((entry) => entry.isDirectory()).map(({ name }) => this.find(name)));
    return found.filter((source) => source !== undefined);
  }

  private async find(name: string): Promise<RegistrySource | undefined> {
    const file = path.join(this.options.dir, name, FACTS);
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    return text === undefined ? undefined : (JSON.parse(text) as RegistrySource);
  }

  private async must(name: string): Promise<RegistrySource> {
    checkName(name);
    const source = await this.find(name);
    if (source) return source;
    const names = (await this.list()).map((one) => one.name).join(', ');
    throw new Error(`the registry has no source ${name}: it has ${names === '' ? 'none' : names}`);
  }

  private async copy(from: string, name: string): Promise<RegistrySource> {
    const { dir, now } = this.options;
    await mkdir(dir, { recursive: true });
    const aside = await mkdtemp(path.join(dir, '.new-'));
    try {
      const { kind, at } = locationOf(from);
      const revision = await this.fill(kind, at, aside);
      const origin = kind === 'folder' ? path.resolve(at) : from;
      const license = await licenceIn(aside);
      const source: RegistrySource = { name, from: origin, kind, revision, license, updatedAt: now() };
      await writeFile(path.join(aside, FACTS), `${JSON.stringify(source, null, 2)}\n`);
      await this.replace(path.join(dir, name), aside);
      return source;
    } finally {
      await rm(aside, { recursive: true, force: true });
    }
  }

  private async fill(kind: RegistrySource['kind'], at: string, aside: string): Promise<string | null> {
    switch (kind) {
      case 'folder':
        await copyFolder(path.resolve(at), aside);
        return null;
      case 'git':
        return cloned(at, aside);
      case 'npm':
        return this.options.packages.fetch(at, (folder) => copyFolder(folder, aside));
    }
  }

  private async replace(target: string, aside: string): Promise<void> {
    const former = `${aside}-former`;
    const had = await rename(target, former).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return false;
        throw error;
      },
    );
    await rename(aside, target);
    if (had) await rm(former, { recursive: true, force: true });
  }
}

const orNone = (error: NodeJS.ErrnoException): [] => {
  if (error.code === 'ENOENT') return [];
  throw error;
};

const checkName = (name: string): void => {
  if (NAME.test(name)) return;
  const shown = JSON.stringify(name.slice(0, 100));
  throw new Error(`the name ${shown} cannot be a folder: give --name with small letters, digits, ".", "_" and "-"`);
};

const locationOf = (from: string): { readonly kind: RegistrySource['kind']; readonly at: string } => {
  if (from.startsWith(NPM)) return { kind: 'npm', at: from.slice(NPM.length) };
  if (from.startsWith('git+')) return { kind: 'git', at: from.slice('git+'.length) };
  if (/^(?:https?|ssh|git):\/\/\S+$|^git@\S+:\S+$/.test(from)) return { kind: 'git', at: from };
  return { kind: 'folder', at: from };
};

/** Last part of the address without `.git`, or of the name of a package. */
const nameOf = (from: string): string => {
  const bare = (from.startsWith(NPM) ? from.slice(NPM.length).replace(/(?<=.)@.*$/, '') : from)
    .replace(/[?#].*$/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '');
  const last = bare.split(/[/:]/).at(-1) ?? '';
  const name = path.basename(path.resolve(last)).toLowerCase();
  return name.replace(/[^a-z0-9._-]+/g, '-').replace(/^[^a-z0-9]+/, '');
};

const MOST_BYTES = 1024 * 1024;
const LICENCE_FILE = /^(?:licen[cs]e|copying)(?:[.-][\w.-]{1,40})?$/i;

const licenceIn = async (folder: string): Promise<string> => {
  const stated = statedLicence(fieldsOf(await smallText(path.join(folder, 'package.json'))));
  if (stated !== undefined) return stated;
  const file = (await readdir(folder)).sort().find((name) => LICENCE_FILE.test(name));
  return file === undefined ? NO_LICENCE : `${NO_LICENCE}, see its ${file}`;
};

/** Empty for anything but a regular file, because a repository may contain a link to any path. */
const smallText = async (file: string): Promise<string> => {
  const facts = await lstat(file).catch(() => undefined);
  return facts?.isFile() === true && facts.size <= MOST_BYTES ? readFile(file, 'utf8') : '';
};

const fieldsOf = (json: string): Readonly<Record<string, unknown>> => {
  try {
    const parsed: unknown = JSON.parse(json.replace(/^\uFEFF/, ''));
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {};
  } catch {
    return {};
  }
};

const copyFolder = async (from: string, into: string): Promise<void> => {
  const facts = await stat(from).catch(() => undefined);
  if (!facts?.isDirectory()) throw new Error(`${from} is no folder: give a folder, git+<url> or npm:<name>`);
  await cp(from, into, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (file) => !LEFT_OUT.has(path.basename(file)),
  });
};

/** Clones the newest commit of `url`, or of the branch or tag after `#`. */
const cloned = async (url: string, into: string): Promise<string> => {
  const [address = '', ref] = url.split('#');
  const checkout = path.join(into, '.checkout');
  const git = (...args: string[]): Promise<{ stdout: string }> =>
    run('git', args, {
      timeout: GIT_TIMEOUT_MS,
      maxBuffer: 1024 * 1024,
      env: { ...process.env, GIT_TERMINAL_PROMPT: '0' },
    });
  const branch = ref === undefined ? [] : ['--branch', ref];
  try {
    await git('clone', '--quiet', '--depth', '1', ...branch, '--', address, checkout);
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string };
    if (code === 'ENOENT') throw new Error('git is not installed: install it, or add a folder', { cause: error });
    throw new Error(`git could not clone ${address}: ${stderr.trim().slice(0, 1_000)}`, { cause: error });
  }
  const { stdout } = await git('-C', checkout, 'rev-parse', 'HEAD');
  await copyFolder(checkout, into);
  await rm(checkout, { recursive: true });
  return stdout.trim();
};
