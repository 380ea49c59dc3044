import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { NpmRegistry, tarballOf } from '#test/harness/npm-registry.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import {
  createInspector,
  createSandboxFactory,
  tryLevel,
  type JailLevel,
  type JailName,
  isCarried,
  type Protection,
  type RunOutcome,
} from '#libs/sandbox/index.js';
import { MAX_PROCESSES, MAX_TMP_FILES } from '#libs/sandbox/jail/node-flags.js';
import { NativeAddon } from '#libs/sandbox/testing/native-addon.js';
import { PackageStore } from './package-store.js';

const { EPERM, ENOSYS } = constants.errno;
/** Above every limit. */
const FORKS = 3 * MAX_PROCESSES;
const SHARED_MB = 900;
const FILES = MAX_TMP_FILES + 4_000;

const built = await NativeAddon.buildProbe();
const available: JailLevel[] = [];
// At the level process a package with machine code is refused.
for (const name of ['jail (bwrap)', 'jail (unshare)'] as JailName[]) {
  const level = await tryLevel(name);
  if (typeof level === 'string') process.stderr.write(`skipped: ${name} cannot run here: ${level}\n`);
  else available.push(level);
}

/** Runs each action that the event names in the machine code of a package. */
const COMPONENT = `import { run } from 'machine-code';
  export default { name: 'n', run(task) { this.$emit(JSON.parse(run(task))); } };`;

if (typeof built === 'string' || available.length === 0) {
  const reason = typeof built === 'string' ? built : 'no jail can run here';
  describe('machine code of an npm package', () => it.skip(`not tested: ${reason}`, () => undefined));
} else {
  let registry: NpmRegistry;

  beforeAll(async () => {
    registry = await NpmRegistry.start();
    const tarball = tarballOf([
      { path: 'package/package.json', content: '{"name":"machine-code","version":"1.0.0"}' },
      { path: 'package/index.js', content: `module.exports = require('./probe.node');` },
      { path: 'package/probe.node', content: built.code },
    ]);
    await registry.publish('machine-code', '1.0.0', {}, { tarball });
  }, 60_000);
  afterAll(() => registry.close());

  describe.each(available)('machine code of an npm package from the store, in $name', (level) => {
    let folder: string;
    let store: PackageStore;
    let factory: ReturnType<typeof createSandboxFactory>;
    let bundleFile: string;
    let specifiers: readonly string[];
    let lock: Awaited<ReturnType<PackageStore['install']>>['lock'];

    beforeAll(async () => {
      folder = tempDir('native');
      store = new PackageStore({
        folder: path.join(folder, 'packages'),
        level,
        minAgeMs: 0,
        registries: [{ scope: null, url: registry.url, token: null, tarballHosts: [] }],
      });
      const inspector = createInspector({ level, packages: store });
      const { bundle, packages } = await inspector
        .inspect(COMPONENT, { workspaceId: 'o_1' })
        .finally(() => inspector.close());
      // Machine code cannot be bundled. It stays beside the bundle.
      expect(packages).toMatchObject({ hasMachineCode: true, externals: ['node_modules/machine-code'] });
      bundleFile = path.join(folder, 'bundle.js');
      writeFileSync(bundleFile, bundle);
      lock = packages?.lock ?? { specifiers: {}, packages: [] };
      specifiers = Object.keys(lock.specifiers);
      factory = createSandboxFactory({ level, limits: { memoryMb: 128, tmpMb: 16 } });
    }, 120_000);
    afterAll(async () => {
      await factory.close();
      await store.close();
      removeDir(folder);
    });

    const act = async (task: string): Promise<RunOutcome> => {
      const installed = await store.install({ specifiers, workspaceId: 'o_1', lock });
      const sandbox = await factory.start({
        sourceId: 'dc_1',
        workspaceId: 'o_1',
        bundleFile,
        packages: { folder: installed.folder, hasMachineCode: true, release: () => installed.release() },
        props: {},
        db: {},
        concurrency: 1,
      });
      const outcome = await sandbox.run({ invocationId: 'i', event: JSON.stringify(task), timeoutMs: 30_000 });
      await sandbox.stop();
      return outcome;
    };
    const said = async (task: string): Promise<Readonly<Record<string, number>>> => {
      const { emits, error } = await act(task);
      expect(error).toBeUndefined();
      return JSON.parse(emits[0]?.payload ?? 'null') as Record<string, number>;
    };
    const attack = (protection: Protection, name: string, run: () => Promise<void>): void => {
      if (isCarried(level, protection)) it(name, run, 60_000);
      else it.skip(`not promised at ${level.name}: ${name}`, run);
    };

    attack('syscalls', 'cannot make system calls that Node does not need', async () => {
      const { getpid, unix, clone3, ...refused } = await said('system_calls');
      expect({ getpid, unix, clone3 }).toEqual({ getpid: 0, unix: 0, clone3: ENOSYS });
      expect(Object.keys(refused).length).toBeGreaterThan(15);
      expect(Object.entries(refused).filter(([, errno]) => errno !== EPERM)).toEqual([]);
    });

    attack('privileges', 'cannot make a namespace in which it would be root', async () => {
      expect((await said('privileges'))['new_user_namespace']).toBeGreaterThan(0);
    });

    attack('processes', 'cannot start an unlimited number of processes', async () => {
      expect((await said(`processes ${FORKS}`))['made']).toBeLessThanOrEqual(MAX_PROCESSES + 8);
    });

    attack('memory', 'cannot take memory that the heap limit does not cover', async () => {
      expect(await act(`shared_memory ${SHARED_MB}`)).toMatchObject({
        status: 'killed',
        error: { code: 'OutOfMemory' },
        emits: [],
      });
    });

    attack('tmp_files', 'cannot fill kernel memory with file names', async () => {
      const { made } = await said(`files ${FILES}`);
      expect(made).toBeGreaterThan(1_000);
      expect(made).toBeLessThanOrEqual(MAX_TMP_FILES);
    });
  });
}
