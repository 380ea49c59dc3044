import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ComponentMetadata } from '#libs/component-model/component-metadata.js';
import { boundedMetadata } from '#libs/components/domain/metadata-limits.js';
import { EgressSockets } from '#libs/egress/egress-sockets.js';
import { createEgress, type Egress } from '#libs/egress/guarded-dispatcher.js';
import { propBinder } from '#libs/runner/prop-binder.js';
import { BuildJail } from '#libs/sandbox/bundler/build-jail.js';
import {
  createInspector,
  type Inspector,
  createSandboxFactory,
  type ClosableSandboxFactory,
  type JailLevel,
  type BoundProp,
  type Sandbox,
} from '#libs/sandbox/index.js';
import { PackageFolder } from '#libs/sandbox/testing/package-folder.js';
import { boundValue } from '#libs/sources/domain/bound-value.js';
import { planProps, type PropPlan } from '#libs/sources/domain/props.js';
import { propsOf } from '#libs/sources/published.js';
import { ROOT } from '#test/harness/paths.js';
import { PACKAGE_PLACES, PACKAGE_TEXTS } from './package-texts.js';

/** Time at which a component is saved. */
export const SAVED_AT = Date.UTC(2026, 0, 1);
export const FOLDER = path.join(ROOT, 'test/components');

export interface Bundled {
  readonly file: string;
}

/** Builds each component once, in the jail for builds. The bundle is run at every level. */
export class Bundles {
  private readonly jail: BuildJail;
  private readonly packages = new PackageFolder(PACKAGE_TEXTS, PACKAGE_PLACES);
  private readonly made = new Map<string, Promise<string>>();

  private constructor(
    level: JailLevel,
    readonly dir: string,
  ) {
    this.jail = new BuildJail({ level, packages: this.packages });
  }

  static async open(level: JailLevel): Promise<Bundles> {
    return new Bundles(level, await mkdtemp(path.join(tmpdir(), 'sluice-components-')));
  }

  /** File of the bundle. Rejects with DomainError as a save does. */
  of(component: string): Promise<string> {
    let file = this.made.get(component);
    if (!file) {
      file = this.build(component);
      file.catch(() => undefined);
      this.made.set(component, file);
    }
    return file;
  }

  private async build(component: string): Promise<string> {
    const { bundle, packages } = await this.jail.bundle(filesOf(component), { workspaceId: 'o_components' });
    await packages?.installed.release();
    if (packages?.externals.length) throw new Error(`${component}: packages beside a bundle have a test of their own`);
    const file = path.join(this.dir, `${randomUUID()}.cjs`);
    await writeFile(file, bundle);
    return file;
  }

  async close(): Promise<void> {
    await this.jail.close();
    await this.packages.remove();
    await rm(this.dir, { recursive: true, force: true });
  }
}

/** `area/file` is one file. `area/folder/…/file` comes with the texts of the whole folder. */
const filesOf = (component: string): { code: string; fileName: string; files: Record<string, string> } => {
  const [area = '', folder = '', ...rest] = component.split('/');
  const code = readFileSync(path.join(FOLDER, component), 'utf8');
  if (rest.length === 0) return { code, fileName: folder, files: {} };
  const root = path.join(FOLDER, area, folder);
  const names = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));
  const fileName = rest.join('/');
  const others = names.filter((name) => name !== fileName);
  return {
    code,
    fileName,
    files: Object.fromEntries(others.map((name) => [name, readFileSync(path.join(root, name), 'utf8')])),
  };
};

/** A component and its props after a deployment. */
export interface Planned {
  readonly bundleFile: string;
  readonly metadata: ComponentMetadata;
  readonly plan: PropPlan;
}

/** One level of isolation, with all parts of the server from the upload of a component to its events. */
export class Stage {
  private readonly described = new Map<string, Promise<ComponentMetadata>>();
  private readonly inspector: Inspector;
  private readonly factory: ClosableSandboxFactory;
  private started = 0;

  private constructor(
    level: JailLevel,
    private readonly bundles: Bundles,
    private readonly egress: Egress,
    private readonly sockets: EgressSockets,
  ) {
    this.inspector = createInspector({ level, clock: { now: () => SAVED_AT } });
    const egressSocket = (workspace: string, source: string): Promise<string> => sockets.pathFor(workspace, source);
    this.factory = createSandboxFactory({ level, egressSocket, limits: { memoryMb: 96 } });
  }

  /** @param allow addresses that components may reach besides the public internet. */
  static async open(level: JailLevel, bundles: Bundles, allow: readonly string[]): Promise<Stage> {
    const egress = createEgress({ allow });
    const sockets = await EgressSockets.create('sluice-components-egress-', egress);
    return new Stage(level, bundles, egress, sockets);
  }

  /** Rejects with DomainError where a deployment is refused. */
  async plan(component: string, given: Readonly<Record<string, unknown>>): Promise<Planned> {
    const bundleFile = await this.bundles.of(component);
    let metadata = this.described.get(bundleFile);
    if (!metadata) this.described.set(bundleFile, (metadata = this.inspector.inspectComponent(bundleFile)));
    const found = boundedMetadata(await metadata);
    let n = 0;
    const plan = planProps({
      props: found.configurableProps,
      componentWarnings: found.warnings,
      given,
      appOf: () => undefined,
      now: SAVED_AT,
      newEndpointKey: () => `ekey${++n}`,
      newSecretRef: () => `sec_${++n}`,
    });
    return { bundleFile, metadata: found, plan };
  }

  async start({ bundleFile, metadata, plan }: Planned, db: Readonly<Record<string, string>>): Promise<Sandbox> {
    return this.factory.start({
      sourceId: `dc_${++this.started}`,
      workspaceId: 'o_1',
      bundleFile,
      props: await bind(metadata, plan),
      db,
      concurrency: propsOf(plan, 'db').length > 0 ? 1 : 10,
    });
  }

  async close(): Promise<void> {
    await this.inspector.close();
    await this.factory.close();
    await this.sockets.close();
    await this.egress.close();
  }
}

const bind = (metadata: ComponentMetadata, plan: PropPlan): Promise<Readonly<Record<string, BoundProp>>> => {
  const secrets = new Map(plan.secrets.map(({ ref, text }) => [ref, text]));
  const vault = {
    get: (ref: string) => Promise.resolve(secrets.get(ref)),
    put: () => Promise.resolve(),
    delete: () => Promise.resolve(),
  };
  const binder = propBinder(vault, (key) => `https://${key}.example.test`, boundValue, {
    versionOf: () => undefined,
    freshen: () => undefined,
    authOf: () => Promise.resolve({}),
  });
  return binder.bind('o_1', {
    componentId: 'sc_1',
    componentKey: metadata.key,
    bundleHash: '',
    props: plan.props,
    hooks: metadata.hooks,
    dedupe: metadata.dedupe,
    emitOnDeploy: true,
  });
};
