import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { configReference } from '#libs/config/index.js';

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  ...['docs', 'examples'].flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name)),
  ),
].filter((name) => name.endsWith('.md'));

const reference = ['rest-api', 'component-model', 'delivery', 'errors', 'limits', 'glossary', 'workflows'];
const anchorsOf = (page: string): ReadonlySet<string> =>
  new Set([...readFileSync(page, 'utf8').matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id]) => id as string));

/** Anchors, and headings as GitHub names them. */
const targetsOf = (page: string): ReadonlySet<string> => {
  const text = readFileSync(page, 'utf8').replace(/```[\s\S]*?```/g, '');
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set([...anchorsOf(page), ...headings]);
};

/** Lines of code and tests that name a document. */
const citations = ['apps', 'libs', 'test', 'tools'].flatMap((root) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|mjs)$/.test(name))
    .flatMap((name) =>
      readFileSync(join(root, name), 'utf8')
        .split('\n')
        .flatMap((line, n) => (/[a-z]\.md\b/.test(line) ? [{ where: `${join(root, name)}:${n + 1}`, line }] : [])),
    ),
);

describe('documents', () => {
  it('list the settings that the code reads (fix: node dist/apps/cli/src/main.js config --reference)', () => {
    expect(readFileSync('docs/reference/config.md', 'utf8')).toBe(configReference());
  });

  it.each(pages)('%s has no dead links', (page) => {
    const text = readFileSync(page, 'utf8').replace(/```[\s\S]*?```/g, '');
    const targets = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, target]) => target as string);
    const missing = targets.filter((target) => !/^[a-z]+:/.test(target) && !existsSync(join(dirname(page), target)));
    expect(missing).toEqual([]);
  });

  it.each(pages)('%s has no dead anchors', (page) => {
    const text = readFileSync(page, 'utf8').replace(/```[\s\S]*?```/g, '');
    const targets = [...text.matchAll(/\]\(([^)#\s:]*)#([^)\s]+)\)/g)].map(([, path = '', id = '']) => ({ path, id }));
    const dead = targets.filter(({ path, id }) => {
      const target = path === '' ? page : join(dirname(page), path);
      return target.endsWith('.md') && existsSync(target) && !targetsOf(target).has(id);
    });
    expect(dead).toEqual([]);
  });

  it('are found from the index: each guide and each page of the reference', () => {
    const index = readFileSync('docs/README.md', 'utf8');
    const found = pages.filter((page) => /^docs\/(how-to|reference)\//.test(page));
    expect(found.filter((page) => !index.includes(`](${page.slice('docs/'.length)}`))).toEqual([]);
  });

  it.each(reference)('of the reference give each rule an anchor of its own: %s', (page) => {
    const ids = [...readFileSync(`docs/reference/${page}.md`, 'utf8').matchAll(/<a id="([^"]+)"><\/a>/g)];
    expect(ids.length).toBeGreaterThan(20);
    expect(new Set(ids.map(([, id]) => id)).size).toBe(ids.length);
  });

  it('hold every anchor that code and tests cite', () => {
    const known = new Map(reference.map((page) => [page, anchorsOf(`docs/reference/${page}.md`)]));
    const cited = citations.flatMap(({ where, line }) =>
      [...line.matchAll(/\b([a-z-]+)\.md#([a-z0-9-]+)/g)].map(([, page = '', id = '']) => ({ where, page, id })),
    );
    expect(cited.length).toBeGreaterThan(50);
    expect(cited.filter(({ page, id }) => known.has(page) && !known.get(page)?.has(id))).toEqual([]);
  });

  // docs/adr/0092-the-package.md
  it('and code tell nobody to run or install Sluice by its name alone, which is of another package of npm', () => {
    const code = ['apps', 'libs', 'examples'].flatMap((root) =>
      readdirSync(root, { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.(ts|mjs|json)$/.test(name))
        .map((name) => join(root, name)),
    );
    const byName = /\b(?:npx|bunx|npm (?:i|install|exec|add)|(?:pnpm|yarn) (?:add|dlx))(?: --?[\w-]+)* sluice\b(?!-)/;
    expect('npx --yes sluice serve').toMatch(byName);
    expect('npm install --save-dev ./sluice-0.1.0.tgz').not.toMatch(byName);
    expect([...pages, ...code].filter((file) => byName.test(readFileSync(file, 'utf8')))).toEqual([]);
  });

  it('are the only ones that code and tests cite, the reference by its anchors', () => {
    const all = new Set(pages.map((page) => basename(page)));
    const wrong = citations.filter(({ line }) =>
      [...line.matchAll(/([a-z-]+\.md)(#?)/gi)].some(
        ([, name = '', anchor]) =>
          (reference.includes(name.slice(0, -3)) && anchor === '' && !line.includes(`'`)) ||
          (/^(decisions|sandbox|stack|style)\.md$/.test(name) && !all.has(name)),
      ),
    );
    expect(wrong.map(({ where, line }) => `${where}: ${line.trim()}`)).toEqual([]);
  });
});
