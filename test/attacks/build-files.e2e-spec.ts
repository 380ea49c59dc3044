import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { componentCode, CUSTOM_HTTP } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { tempDir } from '#test/harness/temp-dir.js';

const instance = useInstance();
const { api, server } = instance;
let dir: string;

beforeAll(() => {
  dir = tempDir('secrets');
  mkdirSync(join(dir, 'deep'));
  writeFileSync(join(dir, 'deep', 'host.key'), 'the-secret-of-the-host');
});
afterAll(() => rmSync(dir, { recursive: true }));

/** A component that includes every matching file as text. `\${q}` stands for any name. */
const taking = (pattern: string): string =>
  componentCode({
    head: `const q = String(Date.now());
      const stolen = () => import(\`${'../'.repeat(20)}${pattern.replace(/^\//, '')}\`, { with: { type: 'text' } });`,
    members: 'async run() { this.http.respond({ status: 200, body: (await stolen()).default }); }',
  });

/** The former bundler: in this process, with only a plugin between it and the files of the host. */
const unprotected = async (code: string): Promise<string> => {
  const { outputFiles } = await esbuild.build({
    entryPoints: ['component.mjs'],
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    logLevel: 'silent',
    absWorkingDir: '/',
    plugins: [
      {
        name: 'component-files',
        setup: (hooks) => {
          hooks.onResolve({ filter: /.*/ }, ({ path }) => ({ path, namespace: 'component' }));
          hooks.onLoad({ filter: /.*/, namespace: 'component' }, () => ({ contents: code }));
        },
      },
    ],
  });
  return outputFiles[0]?.text ?? '';
};

/** Texts of the host, reached by the pattern, that no answer may contain. */
const cases = (): readonly (readonly [what: string, pattern: string, secrets: readonly string[]])[] => {
  const key = join(server.dataDir, 'secret.key');
  return [
    ['a file of the host', `${dir}/\${q}.key`, ['the-secret-of-the-host']],
    [
      'the key of the server',
      `${server.dataDir}/secret\${q}`,
      existsSync(key) ? [readFileSync(key, 'utf8').trim()] : [],
    ],
    ['its environment', '/proc/self/envi${q}', [server.apiKey]],
    ['the code of others', `${server.dataDir}/blobs/\${q}`, ['not-for-other-workspaces']],
  ];
};

describe('an import by a pattern', () => {
  it('reads a file of the host through unprotected esbuild (the control)', async () => {
    expect(await unprotected(taking(`${dir}/\${q}.key`))).toContain('the-secret-of-the-host');
  });

  it('reaches no file of the host, and names none', async () => {
    await api.createComponent(componentCode({ head: '// not-for-other-workspaces', members: 'run() {}' }));
    for (const [what, pattern, secrets] of cases()) {
      const reply = await api.call('POST', '/v1/components', { body: { component_code: taking(pattern) } });
      expect({ what, status: reply.status, body: reply.body }).toMatchObject({
        what,
        status: 400,
        body: { code: 'invalid_component', error: expect.stringContaining('builds the path of a file from parts') },
      });
      for (const secret of [...secrets, dir, server.dataDir]) expect(reply.text).not.toContain(secret);
    }
  });

  it('is refused on every route, and in files beside the code', async () => {
    const code = taking(`${dir}/\${q}.key`);
    const required = code.replace('import(', 'require(').replace(", { with: { type: 'text' } }", '');
    const innocent = `import './part.mjs';\n${componentCode({ members: 'run() {}' })}`;
    const { id } = await instance.deploy(componentCode({ members: 'run() {}' }));
    for (const [method, path, body] of [
      ['POST', '/v1/sources', { component_code: code }],
      ['PUT', `/v1/sources/${id}`, { component_code: code }],
      ['POST', '/v1/components', { component_code: innocent, files: { 'part.mjs': code } }],
      ['POST', '/v1/sources', { component_code: innocent, files: { 'part.mjs': required } }],
    ] as const) {
      const reply = await api.call(method, path, { body });
      expect({ method, path, status: reply.status }).toEqual({ method, path, status: 400 });
      expect(reply.text).not.toContain('the-secret');
    }
  });

  it("does not affect imports of the component's own files by path", async () => {
    const code = componentCode({
      head: `import text from './notes.txt'; const part = () => import('./part.mjs');`,
      props: CUSTOM_HTTP,
      members: 'async run() { this.http.respond({ status: 200, body: text + (await part()).default }); }',
    });
    const files = { 'notes.txt': 'two ', 'part.mjs': 'export default "parts"' };
    const source = await api.createSource({ component_code: code, files });
    expect((await instance.post(source)).text).toBe('two parts');
  });
});
