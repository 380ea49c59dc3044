import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import semver from 'semver';

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly engines?: { readonly node?: string };
  readonly license?: string;
  readonly dev?: boolean;
  readonly deprecated?: string;
  readonly name?: string;
}

interface Manifest {
  readonly engines: { readonly node: string };
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
const lock = read('package-lock.json') as { readonly packages: Readonly<Record<string, Locked>> };
const manifest = read('package.json') as Manifest;
const packages = Object.entries(lock.packages).filter(([place]) => place !== '');
/** Those whose code the bundles contain (tools/third-party.mjs). */
const bundled = new Set(
  [...readFileSync('dist/THIRD-PARTY.md', 'utf8').matchAll(/^- (\S+) \d+\.\S+ \(.*\)$/gm)].map(([, name = '']) => name),
);
const nameOf = (place: string): string => place.replace(/^.*node_modules\//, '');

/** Oldest version of each line of Node that `engines` of package.json admits, and what CI runs. */
const NODES = ['20.19.0', '20.20.2', '22.13.0', '24.0.0'];

/**
 * @platformatic/kafka names Node 20.19.4, and its parts a newer one. They run on this one: every suite of the Kafka adapter
 * uses them.
 */
const RUN_ON_OLDER_NODES = new Set(['@platformatic/kafka', '@platformatic/dynamic-buffer', '@platformatic/wasm-utils']);

const PERMISSIVE = new Set([
  ...['MIT', 'MIT-0', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'BlueOak-1.0.0', 'Python-2.0'],
  // Two lists of the names of licences, as data.
  ...['CC0-1.0', 'CC-BY-3.0'],
  '(BSD-3-Clause AND Apache-2.0)',
]);
/** Production packages whose manifest has no `license`. Each has the text of the MIT licence in its file LICENSE. */
const MIT_BY_FILE = new Set(['busboy', 'streamsearch']);

describe('the packages of package-lock.json', () => {
  it.each(NODES)('all run on Node %s', (node) => {
    expect(semver.satisfies(node, manifest.engines.node)).toBe(true);
    const refusing = packages
      .filter(([place]) => !RUN_ON_OLDER_NODES.has(nameOf(place)))
      .filter(([, { engines }]) => !semver.satisfies(node, engines?.node ?? '*'))
      .map(([place, { version, engines }]) => `${place}@${version ?? ''} wants ${engines?.node ?? ''}`);
    expect(refusing).toEqual([]);
  });

  it('are none that reports installations, and none of the hosted service', () => {
    const found = packages
      .flatMap(([place, { name = '', resolved = '' }]) => [nameOf(place), name, resolved])
      .filter((text) => /@scarf|pipedream/i.test(text));
    expect(found).toEqual([]);
  });

  it('are none that its maintainers have deprecated', () => {
    expect(packages.filter(([, { deprecated }]) => deprecated !== undefined).map(([place]) => place)).toEqual([]);
  });

  it('have a permissive licence where a user gets them, by installation or in a bundle', () => {
    expect(bundled.size).toBeGreaterThan(100);
    const other = packages
      .filter(([place, { dev }]) => dev !== true || bundled.has(nameOf(place)))
      .filter(([place, { license }]) => !isPermissive(nameOf(place), license))
      .map(([place, { license }]) => `${place}: ${license ?? 'none'}`);
    expect(other).toEqual([]);
  });

  it('have an exact version where package.json names them', () => {
    const named = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(named.filter(([, version]) => semver.valid(version) === null)).toEqual([]);
  });
});

describe('the Kafka clients', () => {
  const KAFKA =
    /\bfrom '((?:kafkajs|@platformatic\/kafka)(?:\/[^']*)?)'|\b(?:import|require)\('((?:kafkajs|@platformatic\/kafka)[^']*)'\)/g;
  const importsOf = (folder: string): readonly (readonly [string, string])[] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(ts|mjs|js)$/.test(file))
      .flatMap((file) => {
        const text = readFileSync(join(folder, file), 'utf8');
        return [...text.matchAll(KAFKA)].map(([, from, called]) => [join(folder, file), from ?? called ?? ''] as const);
      });

  // docs/adr/0012-kafka-groups.md
  it('are used by their public API, and in the product by the wire and by administration alone', () => {
    const imports = ['apps', 'libs', 'test', 'tools'].flatMap(importsOf);
    expect(imports.length).toBeGreaterThan(0);
    expect(imports.filter(([, name]) => name !== 'kafkajs' && name !== '@platformatic/kafka')).toEqual([]);
    const product = imports.filter(
      ([file]) => /^(apps|libs)\//.test(file) && !/((-|\.)spec\.ts$|\/testing\/)/.test(file),
    );
    const elsewhere = product.filter(([file, name]) =>
      name === 'kafkajs'
        ? file !== 'libs/engines/kafka/admin/broker-settings.ts'
        : !file.startsWith('libs/engines/kafka/wire/'),
    );
    expect(elsewhere).toEqual([]);
  });
});

const isPermissive = (name: string, license: string | undefined): boolean =>
  license === undefined ? MIT_BY_FILE.has(name) && isMitText(name) : PERMISSIVE.has(license);

const isMitText = (name: string): boolean =>
  readFileSync(`node_modules/${name}/LICENSE`, 'utf8').includes('Permission is hereby granted, free of charge');
