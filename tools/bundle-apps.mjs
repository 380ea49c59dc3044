// Completes `tsc`: bundles the programs, each `app.js` with what it imports, and what several import in dist/chunks. So
// are threads, because the package has the bundles and no other modules (docs/adr/0092-the-package.md). One
// program is 1,100 files of ours and as many of packages, and to find and open them took most of its start
// (docs/adr/0056-programs-in-bundles.md). All other files of dist stay for worker threads, tests and tools.
import { cpSync, readdirSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import { writeThirdParty } from './third-party.mjs';

const root = process.cwd();

/** Packages that find files beside themselves: a native part, a program, a thread or an asset. */
const WITH_FILES = ['@photostructure/sqlite', 'esbuild', 'esbuild-wasm', 'pino'];
/** Packages that others try to load and do without. */
const OPTIONAL = [
  '@aws-sdk/credential-providers',
  '@fastify/static',
  '@mongodb-js/zstd',
  '@nestjs/microservices',
  '@nestjs/websockets',
  'gcp-metadata',
  'kerberos',
  'mongodb-client-encryption',
  'snappy',
  'socks',
  // For pages of documentation, which Sluice does not serve.
  'swagger-ui-dist',
];
/** Threads, which a program starts by their path. */
const THREADS = ['read-models/scan-worker', 'writer/writer-thread', 'writer/checkpoint-thread'].map(
  (name) => `libs/engines/embedded/${name}`,
);
/** Modules that other programs import: the test kit, by tests of authors. */
const MODULES = ['libs/test-kit/index', 'libs/test-kit/load-tests', 'libs/test-kit/register'];

/** Expression for the URL that a module has without the bundle. Modules find files relative to it. */
const urlOf = (file) => {
  const inDist = path.relative(file.endsWith('.ts') ? root : path.join(root, 'dist'), file).replace(/\.ts$/, '.js');
  return `(import.meta.url.slice(0, import.meta.url.lastIndexOf('/dist/') + 6) + ${JSON.stringify(inDist)})`;
};
// esbuild renames a class whose name occurs twice, as that of each decorated class does. Nest and logs show class names.
const named = (text) =>
  text.replace(
    /^((?:let \w+ = (?:\w+ = )?|export )?class (\w+)(?: extends [^{]+)? \{)/gm,
    (_, head, name) =>
      `${head} static { Object.defineProperty(this, 'name', { value: '${name}', configurable: true }); }`,
  );
// Node keeps each source map in memory, and those of packages are most of it. This one names the file, without lines.
const FILE_ONLY = `\n//# sourceMappingURL=data:application/json;base64,${Buffer.from('{"version":3,"sources":[""],"mappings":"AAAA"}').toString('base64')}`;
const SANDBOX = '#libs/sandbox/index.js';
const index = await readFile('dist/libs/sandbox/index.js', 'utf8');
/** Module of the sandbox that has a name of its index. */
const homes = new Map(
  [...index.matchAll(/^export \{([^}]+)\} from '\.\/([^']+)'/gm)].flatMap(([, names, file]) =>
    names.split(',').map((name) => [name.trim(), `#libs/sandbox/${file}`]),
  ),
);
// esbuild counts what an index exports as loaded by each program that imports one name of it.
const past = (text) =>
  text.replace(/^import \{([^}]+)\} from '#libs\/sandbox\/index\.js'/gm, (_, names) =>
    names
      .split(',')
      .filter((name) => /\S/.test(name) && !/^\s*type /.test(name))
      .map((name) => `import { ${name.trim()} } from '${homes.get(name.trim()) ?? SANDBOX}';`)
      .join(' '),
  );
const modules = {
  name: 'modules',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.([cm]?js|ts)$/ }, async ({ path: file }) => {
      const raw = await readFile(file, 'utf8');
      if (file.startsWith(path.join(root, 'node_modules'))) return { contents: raw + FILE_ONLY, loader: 'js' };
      const text = past(named(raw));
      return {
        contents: text.replace(/(?<!['"])import\.meta\.url/g, urlOf(file)),
        loader: file.endsWith('.ts') ? 'ts' : 'js',
      };
    }),
};

const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: [...readdirSync('apps').map((app) => `apps/${app}/src/app`), ...THREADS, ...MODULES].map((program) => ({
    in: `${program}.ts`,
    out: program,
  })),
  outdir: 'dist',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  sourcemap: 'linked',
  sourcesContent: false,
  // What is bundled from CommonJS requires modules of Node.
  banner: {
    js: "import { createRequire as createRequireHere } from 'node:module'; const require = createRequireHere(import.meta.url);",
  },
  // The same with its WebAssembly as text.
  alias: { '@platformatic/wasm-utils': '@platformatic/wasm-utils/bundled' },
  external: [...WITH_FILES, ...OPTIONAL.flatMap((name) => [name, `${name}/*`])],
  plugins: [modules],
  metafile: true,
  logLevel: 'warning',
});

// Those of earlier builds. A server that runs keeps what it may still load, unless that changed.
const made = new Set(Object.keys(metafile.outputs).map((file) => path.basename(file)));
for (const file of readdirSync('dist/chunks')) if (!made.has(file)) await rm(path.join('dist/chunks', file));

const jailed = readdirSync('dist/libs', { recursive: true }).filter((file) => file.endsWith('.cjs'));
const bundles = Object.keys(metafile.outputs).filter((file) => file.endsWith('.js'));
writeThirdParty([...bundles, ...jailed.map((file) => `dist/libs/${file}`)]);

// What `sluice init` writes. Some examples are templates too, and a template may have a test of its own.
const TEMPLATES = 'dist/apps/cli/templates';
for (const example of ['hello', 'feed', 'github-webhook'])
  cpSync(`examples/${example}`, `${TEMPLATES}/${example}`, { recursive: true });
cpSync('apps/cli/templates', TEMPLATES, { recursive: true });
