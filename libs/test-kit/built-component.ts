import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ComponentMetadata } from '#libs/component-model/component-metadata.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { createInspector, detectIsolation, type JailLevel, type PackageSource } from '#libs/sandbox/index.js';
import { filesOfComponent, type FilesOfComponent } from '#libs/component-files/files-of-component.js';

export interface BuiltComponent {
  readonly bundle: string;
  readonly metadata: ComponentMetadata;
}

/** Set by `sluice test --jail`. */
const JAILED = 'SLUICE_TEST_JAIL';

let level: Promise<JailLevel> | undefined;

/** Level of the processes of tests: fast, or as strong as this machine has it. Found once. */
export const testLevel = (): Promise<JailLevel> =>
  (level ??= detectIsolation(process.env[JAILED] === '1' ? 'auto' : 'process'));

type ComponentTexts = Omit<FilesOfComponent, 'paths'>;

/** Builds of this process, by the texts of the component. */
const builds = new Map<string, Promise<BuiltComponent>>();

/** Builds and describes a component as a server does. Rejects with DomainError component.invalid. */
export const builtComponent = async (file: string): Promise<BuiltComponent> => {
  watched([path.resolve(file)]);
  const { paths, ...text } = await filesOfComponent(file, undefined);
  watched(paths);
  const key = createHash('sha256').update(JSON.stringify(text)).digest('base64');
  const known = builds.get(key);
  if (known) return known;
  const build = buildOf(text);
  builds.set(key, build);
  return build;
};

/**
 * Has Node run the file of the test again when one of these changes (`sluice test --watch`). It knows the modules that
 * the test imports, and a component is none of them.
 */
const watched = (paths: readonly string[]): void => {
  if (process.env['WATCH_REPORT_DEPENDENCIES'] !== undefined) process.send?.({ 'watch:require': paths });
};

const buildOf = async ({ code, fileName, files }: ComponentTexts): Promise<BuiltComponent> => {
  const inspector = createInspector({ level: await testLevel(), packages: NO_PACKAGES, startsAhead: false });
  try {
    const { bundle, metadata } = await inspector.inspect(code, { fileName, files });
    return { bundle, metadata };
  } finally {
    await inspector.close();
  }
};

const NO_PACKAGES: PackageSource = {
  install: ({ specifiers }) =>
    Promise.reject(
      new DomainError(
        'component.package_unavailable',
        `the component imports ${specifiers.map((name) => `"${name}"`).join(', ')}: a test installs no npm packages. Run it on a server, such as that of "sluice dev"`,
        { packages: specifiers },
      ),
    ),
};

/** Calls `use` with a file of this content, and removes the file afterwards. */
export const withFile = async <T>(content: string, use: (file: string) => Promise<T>): Promise<T> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-test-'));
  try {
    const file = path.join(folder, 'bundle');
    await writeFile(file, content);
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
