import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type JailLevel } from '../jail/jail-level.js';
import {
  createSandboxFactory,
  type ClosableSandboxFactory,
  type SandboxFactoryOptions,
} from '../host/sandbox-factory.js';
import { type Bundle, type Sandbox, type SandboxSpec } from '../sandbox.js';
import { type BundleInput } from '../bundler/component-files.js';
import { bundleHere } from './bundle.js';

export type SpecPart = Partial<Omit<SandboxSpec, 'bundleFile'>>;

/** Starts sandboxes for code given as text. Ends them and removes all files on close. */
export class ComponentSandboxes {
  private readonly running: Sandbox[] = [];
  private count = 0;

  private constructor(
    readonly dir: string,
    readonly factory: ClosableSandboxFactory,
  ) {}

  static async open(level: JailLevel, options: Omit<SandboxFactoryOptions, 'level'> = {}): Promise<ComponentSandboxes> {
    const dir = await mkdtemp(path.join(tmpdir(), 'sluice-test-'));
    return new ComponentSandboxes(dir, createSandboxFactory({ ...options, level }));
  }

  async bundle(input: string | BundleInput): Promise<string> {
    const file = path.join(this.dir, `${++this.count}.cjs`);
    await writeFile(file, await bundleHere(typeof input === 'string' ? { code: input } : input));
    return file;
  }

  async start(input: string | BundleInput, part: SpecPart = {}): Promise<Sandbox> {
    return this.startFile(await this.bundle(input), part);
  }

  /** Starts a stored bundle. */
  async startFile(bundleFile: string, part: SpecPart = {}): Promise<Sandbox> {
    const sandbox = await this.factory.start({
      sourceId: `dc_${this.count}`,
      workspaceId: 'o_1',
      props: {},
      db: {},
      concurrency: 10,
      ...part,
      bundleFile,
    });
    this.running.push(sandbox);
    return sandbox;
  }

  async close(): Promise<void> {
    await Promise.all(this.running.map((sandbox) => sandbox.stop()));
    await this.factory.close();
    await rm(this.dir, { recursive: true, force: true });
  }
}

/** The bundle of a file, which no other file has. */
export const bundleAt = (file: string): Bundle => ({ hash: file, file: () => Promise.resolve(file) });
