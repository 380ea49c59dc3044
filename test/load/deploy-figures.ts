import { componentCode } from '#test/harness/component-code.js';
import { NpmRegistry } from '#test/harness/npm-registry.js';
import { type SampleBook } from './component-samples.js';
import { openSluice, type Installation } from './targets.js';

const PACKAGES = 8;
/** Each package has this size, so that a tree has about 1 MB. */
const PACKAGE_BYTES = 128 * 1_024;

/** JavaScript of about PACKAGE_BYTES, different for each package, as no registry stores one file twice. */
const moduleText = (name: string, needs: string | undefined): string => {
  const lines = [`'use strict';`, ...(needs === undefined ? [] : [`exports.next = require('${needs}');`])];
  for (let n = 0, bytes = 0; bytes < PACKAGE_BYTES; n++) {
    const line = `exports.f${n} = (a, b) => ({ sum: a + b + ${n}, from: '${name}', twice: [a * 2, b * ${n}] });`;
    bytes += line.length + 1;
    lines.push(line);
  }
  return `${lines.join('\n')}\n`;
};

/** Publishes a chain of packages in which each needs the next. Resolves with the name of the first. */
const publishTree = async (registry: NpmRegistry, tree: number): Promise<string> => {
  const name = (n: number): string => `bench-tree-${tree}-${n}`;
  for (let n = PACKAGES - 1; n >= 0; n--) {
    const needs = n + 1 < PACKAGES ? name(n + 1) : undefined;
    const options = needs === undefined ? {} : { dependencies: { [needs]: '1.0.0' } };
    await registry.publish(name(n), '1.0.0', { 'index.js': moduleText(name(n), needs) }, options);
  }
  return name(0);
};

const plainCode = (): string => componentCode({ members: 'run(event) { this.$emit(event.body); }' });

const codeWith = (packageName: string): string =>
  componentCode({
    head: `import tree from '${packageName}';`,
    members: 'run(event) { this.$emit(tree.next.f1(event.body.n, 1)); }',
  });

interface Deploy {
  readonly ms: number;
  /** What the server logged last about an installation of packages. */
  readonly install: Readonly<Record<string, unknown>>;
}

/** Deploys a source and deletes it again, which also leaves the log line time to arrive. */
const deploy = async ({ api, server }: Installation, code: string): Promise<Deploy> => {
  const startedAt = performance.now();
  const { id } = await api.createSource({ component_code: code });
  const ms = performance.now() - startedAt;
  await api.deleteSource(id);
  const line = server.lastOutput.split('\n').findLast((each) => each.includes('packages.install'));
  return { ms, install: line === undefined ? {} : (JSON.parse(line) as Record<string, unknown>) };
};

/** Records a deploy with packages, and the parts of its installation. */
const addDeploy = (book: SampleBook, kind: string, { ms, install }: Deploy): void => {
  book.add('deploy', kind, 'ms', ms);
  for (const [field, what] of [
    ['ms', 'install'],
    ['resolve_ms', 'of it: resolve'],
    ['fetch_ms', 'of it: fetch, all downloads added'],
    ['unpack_ms', 'of it: unpack, all packages added'],
  ] as const) {
    book.add('deploy', `${kind}, ${what}`, 'ms', Number(install[field] ?? NaN));
  }
};

/** Times POST /v1/sources with inline code. The kinds of code take turns. */
export const measureDeploys = async (
  book: SampleBook,
  rounds: number,
  each: number,
  say: (text: string) => void,
): Promise<void> => {
  const registry = await NpmRegistry.start();
  try {
    const installation = await openSluice({ env: { SLUICE_NPM_REGISTRY: registry.url } });
    try {
      say(`deploy: ${PACKAGES} packages of ${PACKAGE_BYTES} bytes a tree`);
      book.add('deploy', 'no packages, first of the server', 'ms', (await deploy(installation, plainCode())).ms);
      for (let sample = 0; sample < rounds * each; sample++) {
        const tree = await publishTree(registry, sample);
        book.add('deploy', 'no packages', 'ms', (await deploy(installation, plainCode())).ms);
        addDeploy(book, '1 MB of packages, cold cache', await deploy(installation, codeWith(tree)));
        addDeploy(book, '1 MB of packages, warm cache', await deploy(installation, codeWith(tree)));
      }
    } finally {
      await installation.close();
    }
  } finally {
    await registry.close();
  }
};
