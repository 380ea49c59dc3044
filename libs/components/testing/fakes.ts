import { createHash } from 'node:crypto';
import { type BlobStore, type StagedBlobs } from '#libs/kernel/blob-store.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type ComponentPackages, type LockedPackage } from '#libs/component-model/package-lock.js';
import { type ComponentMetadata, type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { type CallOutcome } from '#libs/component-model/component-call.js';
import {
  type ComponentCallRequest,
  type ComponentCalls,
  type ComponentInspector,
  type ComponentUsers,
  type InspectOptions,
} from '../ports.js';

export class InMemoryBlobs implements BlobStore {
  readonly texts = new Map<string, string>();
  readonly staged = new Set<ReadonlyMap<string, string>>();

  async put(text: string): Promise<string> {
    const hash = hashOf(text);
    this.texts.set(hash, text);
    return hash;
  }
  async stage(texts: readonly string[]): Promise<StagedBlobs> {
    const staged = new Map(texts.map((text) => [hashOf(text), text]));
    this.staged.add(staged);
    return { release: async () => void this.staged.delete(staged) };
  }
  async get(hash: string): Promise<string | undefined> {
    return [this.texts, ...this.staged].map((texts) => texts.get(hash)).find((text) => text !== undefined);
  }
  async fileOf(hash: string): Promise<string> {
    throw new Error(`blob ${hash} is in memory only`);
  }
  async delete(hash: string): Promise<void> {
    this.texts.delete(hash);
  }
  async *hashes(): AsyncIterable<string> {
    yield* this.texts.keys();
  }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Makes code that is the JSON of its metadata, so that a spec declares its component in place. */
export const codeOf = (metadata: Partial<ComponentMetadata> & { readonly salt?: string | number } = {}): string =>
  JSON.stringify(metadata);

const DEFAULTS: ComponentMetadata = {
  kind: 'source',
  name: 'Hello World',
  key: null,
  version: '',
  description: null,
  annotations: null,
  dedupe: null,
  hooks: [],
  hasRun: true,
  hasAdditionalProps: false,
  methods: [],
  configurableProps: [],
  warnings: [],
};

/** Reads code made by `codeOf`; refuses any other as a component that cannot be evaluated. */
export class FakeInspector implements ComponentInspector {
  readonly inspected: ({ readonly code: string } & InspectOptions)[] = [];
  /** Result by code, for code that only a `.ts` file accepts. */
  readonly asTypeScript = new Map<string, string>();

  /** Version of the package `p`, which every component imports while there is one. */
  packageVersion: string | undefined;

  async inspect(code: string, options: InspectOptions): ReturnType<ComponentInspector['inspect']> {
    this.inspected.push({ code, ...options });
    try {
      const typed = options.fileName.endsWith('.ts') ? this.asTypeScript.get(code) : undefined;
      const declared = JSON.parse(typed ?? code) as Partial<ComponentMetadata>;
      const defaults = options.as === 'step' ? { ...DEFAULTS, kind: 'action' as const, name: 'step' } : DEFAULTS;
      const metadata = { ...defaults, ...declared };
      const version = this.packageVersion;
      if (version === undefined) return { bundle: `bundle of ${code}`, metadata };
      return { bundle: `bundle of ${code} with p@${version}`, metadata, packages: packagesWith(version) };
    } catch (error) {
      throw new DomainError('component.invalid', `the component cannot be evaluated: ${String(error)}`, {
        name: 'SyntaxError',
      });
    }
  }
}

/** Answers calls by `answer`, which a spec sets. */
export class FakeCalls implements ComponentCalls {
  readonly asked: ComponentCallRequest[] = [];
  answer: (request: ComponentCallRequest) => Partial<CallOutcome> = () => ({ value: '{"props":[]}' });

  async call(request: ComponentCallRequest): Promise<CallOutcome> {
    this.asked.push(request);
    return { status: 'ok', logs: [], ...this.answer(request) };
  }
  unknownAccountIn(): undefined {
    return undefined;
  }
  propsIn(answer: string): readonly ConfigurableProp[] {
    return (JSON.parse(answer) as { readonly props: readonly ConfigurableProp[] }).props;
  }
}

/** The package `p` beside the bundle, warned about, and a package named like its version. */
const packagesWith = (version: string): ComponentPackages => {
  const locked = (name: string): LockedPackage => ({
    place: `node_modules/${name}`,
    name,
    version,
    integrity: `sha512-${name}${version}`,
    resolved: `http://registry.test/${name}`,
    publishedAt: 1_700_000_000_000,
    ...(name === 'p' ? { licence: 'MIT' } : {}),
  });
  return {
    lock: { specifiers: { p: 'node_modules/p' }, packages: [locked('p'), locked(`v${version}`)] },
    externals: ['node_modules/p'],
    hasMachineCode: false,
    warnings: [{ code: 'package_age', message: 'too young', path: 'p' }],
    bytes: 1_234,
    cached: false,
    ms: 56,
  };
};

/** Says that nothing uses any component. */
export const noUsers: ComponentUsers = { of: () => Promise.resolve({ sources: [], workflows: [] }) };
