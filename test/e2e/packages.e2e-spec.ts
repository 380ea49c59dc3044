import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from '@jest/globals';
import { type Component, type Data, type ErrorBody, type Source } from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { useStandalone } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';
import { ROOT } from '#test/harness/paths.js';
import { NpmRegistry } from '#test/harness/npm-registry.js';

/** Starts before the server, whose settings include its address. */
const registry = await NpmRegistry.start();
afterAll(() => registry.close());
const instance = useStandalone({
  env: { SLUICE_NPM_REGISTRY: registry.url, SLUICE_NPM_DENY: 'denied,partly@<2.0.0' },
});
const { api, server } = instance;

interface Change {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}
interface Packages {
  readonly count: number;
  readonly bytes: number;
  readonly install_ms: number;
  readonly cached: boolean;
  readonly added?: readonly unknown[];
  readonly removed?: readonly unknown[];
  readonly changed?: readonly Change[];
}
interface Saved extends Data<Component & { readonly packages?: Packages }> {
  readonly warnings?: readonly { readonly code: string; readonly message: string }[];
}
interface Locked {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  readonly published_at: number | null;
  readonly license: string;
}

/** Each test installs packages, starts servers or runs the command line several times. */
const TEST_MS = 120_000;
const A_YEAR_AGO = new Date(Math.floor(Date.now() / 1_000) * 1_000 - 365 * 86_400_000);
/** Publishes a package that exports its own version. */
const publish = (name: string, version: string, time = A_YEAR_AGO): Promise<void> =>
  registry.publish(name, version, undefined, { time });
/** Emits what the package exports. */
const emitting = (specifier: string): string =>
  componentCode({ head: `import x from '${specifier}';`, members: 'run() { this.$emit({ x }); },' });
const save = (code: string, more: object = {}): Promise<Saved> =>
  api.expect<Saved>(200, 'POST', '/v1/components', { body: { component_code: code, ...more } });
const refused = async (code: string, status = 422): Promise<ErrorBody> =>
  api.expect<ErrorBody>(status, 'POST', '/v1/components', { body: { component_code: code } });
const packagesOf = async (componentId: string): Promise<readonly Locked[]> =>
  (await api.expect<Data<readonly Locked[]>>(200, 'GET', `/v1/components/${componentId}/packages`)).data;
const versionsOf = async (componentId: string): Promise<readonly string[]> =>
  (await packagesOf(componentId)).map(({ name, version }) => `${name}@${version}`);
/** Ids of the components that use a package. */
const usersOf = async (wanted: string): Promise<readonly string[]> => {
  const query = { package: wanted };
  return (await api.expect<Data<readonly { id: string }[]>>(200, 'GET', '/v1/components', { query })).data.map(
    ({ id }) => id,
  );
};
/** Payload of the event that a request to the endpoint causes. */
const emitted = async (source: Source, before: number): Promise<unknown> => {
  await instance.post(source, {});
  return (await instance.payloads(source, before + 1)).at(-1);
};

describe('npm packages of a component', () => {
  it(
    'are resolved, listed, run, and kept over a new version, the same code and a restart, until a refresh',
    async () => {
      await publish('tide-base', '1.0.0');
      await registry.publish(
        'tide',
        '1.0.0',
        { 'index.js': `module.exports = 'tide 1.0.0 on ' + require('tide-base');` },
        { dependencies: { 'tide-base': '^1.0.0' }, time: A_YEAR_AGO },
      );
      const code = emitting('tide');
      const first = await save(code);
      expect(first.data.packages).toMatchObject({ count: 2, cached: false });
      expect(first.data.packages?.bytes).toBeGreaterThan(0);
      expect(first.warnings).toBeUndefined();
      const { id } = first.data;
      const locked = await packagesOf(id);
      expect(locked).toEqual(
        ['tide', 'tide-base'].map((name) => ({
          name,
          version: '1.0.0',
          integrity: expect.stringMatching(/^sha512-/),
          published_at: A_YEAR_AGO.getTime() / 1_000,
          license: 'none stated',
          place: `node_modules/${name}`,
        })),
      );
      expect(await usersOf('tide-base@1.0.0')).toEqual([id]);
      const source = await instance.deploy(code);
      expect(source.component_id).toBe(id);
      expect(await emitted(source, 0)).toEqual({ x: 'tide 1.0.0 on tide-base@1.0.0' });

      await publish('tide-base', '1.1.0');
      const again = await save(code);
      expect(again.data.packages).not.toHaveProperty('changed');
      expect((await instance.deploy(code)).component_id).toBe(id);
      expect(await packagesOf(id)).toEqual(locked);
      await server.restart();
      expect(await packagesOf(id)).toEqual(locked);
      expect(await emitted(source, 1)).toEqual({ x: 'tide 1.0.0 on tide-base@1.0.0' });

      const refreshed = await save(code, { refresh_packages: true });
      const changed = [{ name: 'tide-base', from: '1.0.0', to: '1.1.0' }];
      expect(refreshed.data.packages).toMatchObject({ added: [], removed: [], changed });
      expect(await versionsOf(id)).toEqual(['tide@1.0.0', 'tide-base@1.1.0']);
      expect(await usersOf('tide-base@1.0.0')).toEqual([]);
      expect(await usersOf('tide-base@1.1.0')).toEqual([id]);
      // A deployed source keeps its packages until its own update.
      expect(await emitted(source, 2)).toEqual({ x: 'tide 1.0.0 on tide-base@1.0.0' });
      const fresh = await instance.deploy(code);
      expect(await emitted(fresh, 0)).toEqual({ x: 'tide 1.0.0 on tide-base@1.1.0' });
    },
    TEST_MS,
  );

  it(
    'are resolved anew by an update of a source with refresh_packages, and its reply says what changed',
    async () => {
      await publish('swell', '1.0.0');
      const code = emitting('swell');
      const source = await instance.deploy(code);
      expect(await emitted(source, 0)).toEqual({ x: 'swell@1.0.0' });
      await publish('swell', '2.0.0');
      const put = (body: object) =>
        api.expect<Data<Source & { packages?: Packages }>>(200, 'PUT', `/v1/sources/${source.id}`, { body });
      expect((await put({ active: true })).data).not.toHaveProperty('packages');
      expect(await emitted(source, 1)).toEqual({ x: 'swell@1.0.0' });
      const updated = await put({ active: true, refresh_packages: true });
      expect(updated.data.packages).toEqual({
        added: [],
        removed: [],
        changed: [{ name: 'swell', from: '1.0.0', to: '2.0.0' }],
      });
      expect(await emitted(source, 2)).toEqual({ x: 'swell@2.0.0' });

      await publish('swell', '3.0.0');
      const body = { component_code: code, refresh_packages: true };
      const { data } = await api.expect<Data<Source & { packages?: unknown }>>(200, 'POST', '/v1/sources', { body });
      expect(data.packages).toEqual({
        added: [],
        removed: [],
        changed: [{ name: 'swell', from: '2.0.0', to: '3.0.0' }],
      });
      expect(await emitted(data, 0)).toEqual({ x: 'swell@3.0.0' });
    },
    TEST_MS,
  );

  it(
    'take the newest version that is old enough, and say so',
    async () => {
      await publish('young', '1.0.0');
      await publish('young', '1.0.1', new Date(Date.now() - 3_600_000));
      const { data, warnings } = await save(emitting('young'));
      expect(await versionsOf(data.id)).toEqual(['young@1.0.0']);
      expect(warnings?.map(({ message }) => message).join()).toMatch(/young.*1\.0\.1.*SLUICE_NPM_MIN_AGE_H/s);
      const exact = await save(emitting('young@1.0.1'));
      expect(await versionsOf(exact.data.id)).toEqual(['young@1.0.1']);
      expect(exact.warnings).toBeUndefined();
    },
    TEST_MS,
  );

  it(
    'may be named with a version, a range and a path, also in require',
    async () => {
      for (const version of ['1.2.0', '1.2.5', '1.3.0', '2.0.0'])
        await registry.publish('ranged', version, {
          'index.js': `module.exports = '${version}';`,
          'lib/sub.js': `module.exports = 'sub ${version}';`,
        });
      const code = `const tilde = require('ranged@~1.2.0'), caret = require('ranged@^1.0.0/lib/sub.js'), exact = require('ranged@1.2.0');
      module.exports = { name: 'n', props: { http: '$.interface.http' }, async run() {
        this.$emit([tilde, caret, exact, (await import('ranged')).default]); } };`;
      const source = await instance.deploy(code);
      expect(await emitted(source, 0)).toEqual(['1.2.5', 'sub 1.3.0', '1.2.0', '2.0.0']);
    },
    TEST_MS,
  );

  it.each([
    ['is unknown', 'nowhere', 'nowhere', /nowhere/],
    ['has no such version', 'tide@9.9.9', 'tide', /tide.*9\.9\.9/],
    ['is denied', 'denied', 'denied', /denied.*SLUICE_NPM_DENY/],
    ['is denied in that version', 'partly@1.0.0', 'partly', /partly.*SLUICE_NPM_DENY/],
    ['needs a denied package', 'needs-denied', 'denied', /denied.*SLUICE_NPM_DENY/],
    ['needs a package from git', 'needs-git', 'needs-git', /from-git.*needs-git|needs-git.*from-git/],
    ['needs a package by its URL', 'needs-url', 'needs-url', /from-url.*needs-url|needs-url.*from-url/],
    ['needs a folder', 'needs-file', 'needs-file', /from-file.*needs-file|needs-file.*from-file/],
  ])('are a 422 that names the package, when it %s', async (_why, specifier, name, message) => {
    await publish('denied', '1.0.0').catch(() => undefined);
    await publish('partly', '1.0.0').catch(() => undefined);
    const wanting = (of: string, dependencies: Record<string, string>) =>
      registry.publish(of, '1.0.0', undefined, { dependencies }).catch(() => undefined);
    await wanting('needs-denied', { denied: '1.0.0' });
    await wanting('needs-git', { 'from-git': 'git+https://git.example/a/b.git' });
    await wanting('needs-url', { 'from-url': 'https://files.example/a.tgz' });
    await wanting('needs-file', { 'from-file': 'file:../a' });
    const { code, error, details } = await refused(emitting(specifier));
    expect(code).toBe('package_unavailable');
    expect(error).toMatch(message);
    expect(details).toEqual({ package: name });
  });

  it(
    'that stay beside the bundle work in a source, a form and an action, and their loss makes events wait',
    async () => {
      await registry.publish('beside', '1.0.0', {
        'index.js': `module.exports = require('fs').readFileSync(__dirname + '/text.txt', 'utf8');`,
        'text.txt': 'read beside',
      });
      const head = `import x from 'beside';`;
      const source = componentCode({
        head,
        props: `http: '$.interface.http', choice: { type: 'string', async options() { return [x]; } }`,
        members: `hooks: { async activate() { console.log(x); } },
        additionalProps() { return { more: { type: 'string', label: x, optional: true } }; },
        run() { this.$emit({ x }); },`,
      });
      const { data } = await save(source);
      const body = { id: data.id, prop_name: 'choice', configured_props: {} };
      const options = await api.expect(200, 'POST', '/v1/components/configure', { body });
      expect(options).toMatchObject({ string_options: ['read beside'], errors: [] });
      const props = await api.expect(200, 'POST', '/v1/components/props', {
        body: { id: data.id, configured_props: {} },
      });
      expect(JSON.stringify(props)).toContain('"label":"read beside"');
      const deployed = await instance.deploy(source, { choice: 'read beside' });
      expect(await emitted(deployed, 0)).toEqual({ x: 'read beside' });

      // The cache is gone and the registry unreachable, so the event waits, and the source gets one message.
      await server.stop();
      rmSync(path.join(server.dataDir, 'packages'), { recursive: true });
      server.setting('SLUICE_NPM_OFFLINE', 'true');
      await server.start();
      await instance.post(deployed, {});
      const [error] = await instance.history(deployed, 1, '$errors');
      expect(JSON.stringify(error?.event)).toMatch(/PackageUnavailable.*beside/);
      server.setting('SLUICE_NPM_OFFLINE', 'false');
      await server.restart();
      expect(await instance.payloads(deployed, 2)).toEqual([{ x: 'read beside' }, { x: 'read beside' }]);
      expect(await instance.history(deployed, 1, '$errors')).toHaveLength(1);
      expect(await (await fetch(`${server.url}/metrics`)).text()).toMatch(
        /sluice_package_installs_total\{outcome="installed"\} 1/,
      );

      const code = `${head} export default { type: 'action', name: 'Read', key: 'read-beside', run() { return x; } };`;
      const action = await save(code);
      const ran = await api.expect(200, 'POST', '/v1/actions/run', {
        body: { id: action.data.id, configured_props: {} },
      });
      expect(ran).toMatchObject({ ret: 'read beside' });
    },
    TEST_MS,
  );

  // docs/reference/component-model.md#shim-packages #registry-licence
  it(
    'of components fill the registry, whose operator asks for a package by name and for its newest version again',
    async () => {
      const scope = { SLUICE_NPM_SCOPES: JSON.stringify({ '@acme': { registry: registry.url, workspaces: ['o_1'] } }) };
      const sluice = async (args: readonly string[], more: Readonly<Record<string, string>> = {}) => {
        const cli = path.join(ROOT, 'dist/apps/cli/src/main.js');
        const { stdout } = await promisify(execFile)(process.execPath, [cli, 'registry', ...args], {
          env: { ...process.env, ...server.settings, ...more },
        });
        return stdout;
      };
      const parts = (version: string, license?: string) => {
        const files = {
          'tide.app.mjs': `import x from 'swell-parts'; import { axios } from '@pipedream/platform';
          export default { type: 'app', app: 'tide', methods: { x: () => x, axios } };`,
          'sources/new-tide/new-tide.mjs': `import tide from '../../tide.app.mjs';
          export default { key: 'tide-new', name: 'New Tide', version: '${version}', props: { tide, http: '$.interface.http' },
            run() { this.$emit({ x: this.tide.x(), version: '${version}' }); } };`,
        };
        const dependencies = { '@pipedream/platform': '^3.0.0' };
        return registry.publish('@pipedream/tide-parts', version, files, {
          dependencies,
          manifest: { main: 'tide.app.mjs', license },
        });
      };
      await publish('swell-parts', '1.0.0');
      await parts('1.0.0', 'MIT');
      const imported = await save(
        `import tide from '@pipedream/tide-parts'; export default { name: 'T', version: '1', run() { return tide; } };`,
      );
      expect(imported.data.packages).toMatchObject({
        imported: [
          { name: '@pipedream/tide-parts', version: '1.0.0', license: 'MIT' },
          { name: 'swell-parts', version: '1.0.0', license: 'none stated' },
        ],
      });
      expect(await sluice(['add', 'npm:@pipedream/tide-parts'])).toMatch(
        /^added tide-parts to .* \(1\.0\.0\), licence: MIT\n$/,
      );
      const source = await eventually(
        'the component is listed',
        async () => {
          const reply = await api.call<Data<Source>>('POST', '/v1/sources', { body: { key: 'tide-new' } });
          return reply.status === 200 ? reply.body.data : undefined;
        },
        60_000,
        200,
      );
      expect(await emitted(source, 0)).toEqual({ x: 'swell-parts@1.0.0', version: '1.0.0' });
      const body = { active: true, refresh_packages: true };
      expect((await api.call('PUT', `/v1/sources/${source.id}`, { body })).status).toBe(422);
      await parts('1.1.0');
      expect(await sluice(['update'])).toBe('updated tide-parts (1.1.0), licence: none stated\n');
      expect(await sluice(['list'])).toContain('licence: none stated');
      await expect(sluice(['add', 'npm:@pipedream/platform'])).rejects.toThrow(/the runtime takes its place/);
      await expect(sluice(['add', 'npm:nowhere'])).rejects.toThrow(/"nowhere"|nowhere/);
      await expect(sluice(['add', 'npm:@acme/parts'], scope)).rejects.toThrow(/@acme/);
      await expect(sluice(['add', 'npm:../up'])).rejects.toThrow(/names no npm package|cannot be a folder/);
    },
    TEST_MS,
  );

  it(
    'come from the cache in offline mode, and those that are not pinned are a 422',
    async () => {
      await publish('kept', '1.0.0');
      await publish('other', '1.0.0');
      const code = emitting('kept');
      const { data } = await save(code);
      server.setting('SLUICE_NPM_OFFLINE', 'true');
      await server.restart();
      const asked = registry.requests().length;
      try {
        const source = await instance.deploy(code);
        expect(source.component_id).toBe(data.id);
        expect(await emitted(source, 0)).toEqual({ x: 'kept@1.0.0' });
        const { code: error, error: text } = await refused(emitting('other'));
        expect([error, text]).toEqual(['package_unavailable', expect.stringMatching(/"other".*SLUICE_NPM_OFFLINE/)]);
        expect(registry.requests()).toHaveLength(asked);
      } finally {
        server.setting('SLUICE_NPM_OFFLINE', 'false');
        await server.restart();
      }
    },
    TEST_MS,
  );
});
