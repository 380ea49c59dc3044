import { DomainError } from '#libs/kernel/domain-error.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import {
  type ComponentCatalog,
  type ComponentReference,
  type DeployableComponent,
  type ResolvedComponent,
} from '#libs/components/published.js';
import { type HookName } from '#libs/component-model/hooks.js';
import { type HookOutcome, type HookRunner, type SourceTopics } from '../published.js';

export const OK: HookOutcome = { status: 'ok', logs: [] };
export const threw = (message: string): HookOutcome => ({
  status: 'threw',
  error: { name: 'TypeError', message, stack: `TypeError: ${message}\n    at run`, code: 'TypeError' },
  logs: [{ k: 'console.log', ts: 7, msg: 'about to fail' }],
});

type HookRequest = Parameters<HookRunner['runHook']>[0];

/** Records each hook as `activate bundle-1`, in order. Answers are set by hook, or by hook and bundle. */
export class FakeHooks implements HookRunner {
  readonly calls: string[] = [];
  readonly endedOperations: string[] = [];
  readonly outcomes = new Map<string, HookOutcome>();
  /** Called while the hook runs. */
  during: (request: HookRequest) => Promise<void> = async () => undefined;

  on(hook: HookName | `${HookName} ${string}`, outcome: HookOutcome): this {
    this.outcomes.set(hook, outcome);
    return this;
  }

  async runHook(request: HookRequest): Promise<HookOutcome> {
    const call = `${request.hook} ${request.definition.bundleHash}`;
    this.calls.push(call);
    await this.during(request);
    return this.outcomes.get(call) ?? this.outcomes.get(request.hook) ?? OK;
  }

  async operationEnded(sourceId: string): Promise<void> {
    this.endedOperations.push(sourceId);
  }
}

export class FakeTopics implements SourceTopics {
  readonly sources = new Set<string>();

  async create(sourceId: string): Promise<void> {
    this.sources.add(sourceId);
  }
  async remove(sourceId: string): Promise<void> {
    this.sources.delete(sourceId);
  }
}

/** Finds components by id. The code `x` is the component `x`. */
export class FakeCatalog implements ComponentCatalog {
  readonly components = new Map<string, DeployableComponent>();
  readonly asked: ComponentReference[] = [];
  /** Ids of the components that were kept, and then of those that were released. */
  readonly kept: string[] = [];
  readonly released: string[] = [];

  add(id: string, over: Partial<DeployableComponent> = {}): this {
    const component: DeployableComponent = {
      id,
      key: null,
      name: 'Hello World',
      kind: 'source',
      bundleHash: `bundle-${id}`,
      configurableProps: [],
      hooks: ['deploy', 'activate', 'deactivate'],
      dedupe: null,
      ...over,
    };
    this.components.set(id, component);
    return this;
  }

  async resolve(reference: ComponentReference, _: CommandContext): Promise<ResolvedComponent> {
    this.asked.push(reference);
    const component = this.components.get(reference.componentId ?? reference.componentCode ?? '');
    if (!component) throw new DomainError('component.not_found', 'no such component');
    return {
      ...component,
      version: '',
      description: null,
      codeHash: 'c',
      keep: async () => void this.kept.push(component.id),
      release: async () => void this.released.push(component.id),
    };
  }
}
