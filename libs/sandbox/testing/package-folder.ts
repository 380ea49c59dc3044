import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type LockedPackage, type PackageLock } from '#libs/component-model/package-lock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type InstalledPackages, type PackageRequest, type PackageSource } from '../bundler/packages.js';
import { withoutVersion } from '../bundler/imports.js';
import { placeOf } from '../bundler/package-rules.js';

/** Files by path below `node_modules`, such as `a/index.js`. A package.json is made where none is given. */
export type PackageTexts = Readonly<Record<string, string | Buffer>>;

/** Packages of a test. Everything is installed, and a specifier is found at the top or at the place given for it. */
export class PackageFolder implements PackageSource {
  readonly asked: PackageRequest[] = [];
  held = 0;
  private readonly folders: string[] = [];

  constructor(
    public texts: PackageTexts,
    private readonly places: Readonly<Record<string, string>> = {},
  ) {}

  async install(request: PackageRequest): Promise<InstalledPackages> {
    this.asked.push(request);
    const locked = await this.write();
    const specifiers: Record<string, string> = {};
    for (const specifier of request.specifiers) {
      const [name = ''] = /^(?:@[^/]+\/)?[^/]+/.exec(withoutVersion(specifier)) ?? [];
      const place = this.places[specifier] ?? `node_modules/${name}`;
      if (!locked.packages.some((one) => one.place === place)) throw missing(specifier);
      specifiers[specifier] = place;
    }
    this.held++;
    let released = false;
    return {
      folder: locked.folder,
      lock: { specifiers, packages: locked.packages },
      warnings: [],
      bytes: Object.values(this.texts).reduce((sum, text) => sum + text.length, 0),
      cached: false,
      release: () => {
        if (!released) this.held--;
        released = true;
        return Promise.resolve();
      },
    };
  }

  async remove(): Promise<void> {
    for (const folder of this.folders) await rm(folder, { recursive: true, force: true });
  }

  private async write(): Promise<{ folder: string; packages: PackageLock['packages'] }> {
    const folder = await mkdtemp(path.join(tmpdir(), 'sluice-packages-'));
    this.folders.push(folder);
    await chmod(folder, 0o755);
    const packages = new Map<string, LockedPackage>();
    const files = Object.entries(this.texts).map(([file, text]) => [`node_modules/${file}`, text] as const);
    for (const [file] of files) {
      const place = placeOf(file) ?? '';
      const text = this.texts[`${place.slice('node_modules/'.length)}/package.json`]?.toString() ?? '{}';
      const { name = place.split('node_modules/').at(-1) ?? '', version = '1.0.0' } = JSON.parse(text) as {
        name?: string;
        version?: string;
      };
      const integrity = `sha512-${createHash('sha512').update(`${name}@${version}`).digest('base64')}`;
      const resolved = `http://registry.test/${name}/-/${version}.tgz`;
      packages.set(place, { place, name, version, integrity, resolved, publishedAt: 1_700_000_000_000 });
    }
    for (const [file, text] of files) {
      await mkdir(path.join(folder, path.dirname(file)), { recursive: true });
      await writeFile(path.join(folder, file), text);
    }
    const sorted = [...packages.values()].sort((a, b) => (a.place < b.place ? -1 : 1));
    return { folder, packages: sorted };
  }
}

const missing = (specifier: string): DomainError =>
  new DomainError('component.package_unavailable', `the npm package "${specifier}" is not in the registry`, {
    packages: [specifier],
  });
