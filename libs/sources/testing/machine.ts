import { type EventStore } from '#libs/kernel/event-store.js';
import { START, streamName, type DomainEvent, type RecordedEvent } from '#libs/kernel/events.js';
import {
  commandHandler,
  load,
  type CommandContext,
  type CommandResult,
  type HandleCommand,
} from '#libs/kernel/handle-command.js';
import { type Decider } from '#libs/kernel/decider.js';
import { newCommandId } from '#libs/kernel/ids.js';
import { InMemoryVault, SteppingClock } from '#libs/kernel/testing/control-plane.js';
import { InMemoryEventStore } from '#libs/kernel/testing/in-memory-event-store.js';
import { Upcasters } from '#libs/kernel/upcasting.js';
import { DeleteSource, DeleteSourceHandler } from '../delete-source/delete-source.handler.js';
import { SourceDeletions } from '../delete-source/source-deletions.js';
import { DeploySource, DeploySourceHandler, type DeploySourceRequest } from '../deploy-source/deploy-source.handler.js';
import { SourceDeployments } from '../deploy-source/source-deployments.js';
import { sourceDecider, type SourceState } from '../domain/source.js';
import { AppHookPlans } from '../app-hook-plans.js';
import { BoundDataStores } from '../bound-data-stores.js';
import { NameSlugs } from '../name-slugs.js';
import { SourcesOfWorkflows } from '../owned-sources.js';
import { type OwnedSources } from '../published.js';
import { workflowChanges } from '#libs/workflows/index.js';
import { reconcileSources, type Reconciled } from '../reconcile-sources.js';
import { InMemoryReadModels } from '#libs/kernel/testing/in-memory-read-models.js';
import { SOURCES } from '../read-models/sources.projection.js';
import { SourceDynamicProps } from '../source-dynamic-props.js';
import { SourceOperations, type SourceResult } from '../source-operations.js';
import { SourceRoom } from '../source-room.js';
import { SourcesView } from '../sources-view.js';
import { UpdateSource, UpdateSourceHandler, type UpdateSourceRequest } from '../update-source/update-source.handler.js';
import { SourceUpdates } from '../update-source/source-updates.js';
import { FakeCatalog, FakeHooks, FakeTopics } from './fakes.js';
import { SOURCE_LIMITS } from '../limits.js';

/** State that outlives a process. */
export class Disk {
  readonly clock = new SteppingClock();
  readonly store = new InMemoryEventStore(this.clock);
  readonly vault = new InMemoryVault();
  readonly topics = new FakeTopics();

  async events(): Promise<readonly RecordedEvent[]> {
    return this.store.readAll(START, 100_000);
  }
}

/** Each event lists the sources of the workflow. */
const workflow: Decider<readonly string[], DomainEvent, readonly string[]> = {
  category: 'workflow',
  initialState: () => [],
  decide: (sourceIds) => [{ type: 'WorkflowDeployed', data: { sourceIds } }],
  evolve: (_, { data }) => (data as { readonly sourceIds: readonly string[] }).sourceIds,
};

export class PowerFailure extends Error {}

/**
 * Lets `left` effects through and fails all later ones. With `blip` only the next one fails, like a transient fault.
 * With `answerLost` the first failing effect still happens, but its answer is lost.
 */
export class PowerSwitch {
  used = 0;
  constructor(
    private left = Infinity,
    private readonly fault: { readonly answerLost?: boolean; readonly blip?: boolean } = {},
  ) {}

  async pass<T>(effect: () => Promise<T>): Promise<T> {
    const { answerLost = false, blip = false } = this.fault;
    const place = this.left--;
    if (place > 0 || (blip && place < 0)) {
      this.used++;
      return effect();
    }
    if (place === 0 && answerLost) await effect();
    throw new PowerFailure('the power is off');
  }
}

/** Makes calls to these methods count as effects of the process. */
const powered = <T extends object>(target: T, methods: readonly (keyof T)[], power: PowerSwitch): T =>
  new Proxy(target, {
    get: (object, name) => {
      const value: unknown = Reflect.get(object, name, object);
      if (typeof value !== 'function') return value;
      const call = value.bind(object) as (...args: unknown[]) => Promise<unknown>;
      return methods.includes(name as keyof T) ? (...args: unknown[]) => power.pass(() => call(...args)) : call;
    },
  });

export const contextFor = (workspaceId = 'o_1', userId = 'u_1'): CommandContext => {
  const commandId = newCommandId();
  return {
    commandId,
    correlationId: commandId,
    causationId: commandId,
    actor: { userId, apiKeyId: 'key_1' },
    workspaceId,
  };
};

const NO_STORES = new BoundDataStores({ resolve: () => Promise.reject(new Error('no data store is asked for')) });

/** One process with this context over a disk, without HTTP or read models. A second one over that disk is a restart. */
export class Machine {
  readonly hooks = new FakeHooks();
  private readonly handle: HandleCommand;
  readonly catalog = new FakeCatalog();
  private readonly upcasters = new Upcasters();
  private readonly store: EventStore;
  private readonly operations: SourceOperations;

  readonly dynamicProps: SourceDynamicProps;
  readonly appHooks: AppHookPlans;
  constructor(
    readonly disk = new Disk(),
    readonly power = new PowerSwitch(),
  ) {
    this.store = powered<EventStore>(disk.store, ['append'], power);
    this.dynamicProps = new SourceDynamicProps(
      { call: () => Promise.resolve([]), stored: () => Promise.reject(new Error('no dynamic props')) },
      disk.vault,
    );
    this.appHooks = new AppHookPlans({ call: () => Promise.resolve(null) }, disk.vault);
    const handle = commandHandler({ store: this.store, upcasters: this.upcasters });
    this.handle = handle;
    this.operations = new SourceOperations(
      handle,
      this.store,
      this.upcasters,
      { waitFor: async () => true },
      powered(disk.vault, ['put', 'delete'], power),
      disk.clock,
      powered(this.hooks, ['runHook', 'operationEnded'], power),
      powered(disk.topics, ['create', 'remove'], power),
      new NameSlugs(handle, disk.clock),
      { find: () => undefined },
    );
  }

  async deploy(request: Partial<DeploySourceRequest> = {}, context = contextFor()): Promise<SourceResult> {
    const full = { reference: { componentId: 'one' }, configuredProps: {}, emitOnDeploy: true, ...request };
    // Empty, because these specs do not test the number of sources.
    const readModels = new InMemoryReadModels();
    await readModels.register(SOURCES);
    const deployments = new SourceDeployments(this.operations, this.dynamicProps, this.appHooks, NO_STORES);
    const room = new SourceRoom(readModels, SOURCE_LIMITS);
    const handler = new DeploySourceHandler(this.operations, deployments, room, this.catalog);
    return handler.execute(new DeploySource(full, context));
  }

  update(id: string, request: Partial<UpdateSourceRequest>, context = contextFor()): Promise<SourceResult> {
    const full = { active: true, ignoreHookErrors: false, ...request };
    const updates = new SourceUpdates(this.operations, this.dynamicProps, this.appHooks, NO_STORES);
    return new UpdateSourceHandler(this.operations, updates, this.catalog).execute(new UpdateSource(id, full, context));
  }

  delete(id: string, ignoreHookErrors = false, context = contextFor()): Promise<unknown> {
    return new DeleteSourceHandler(this.operations, new SourceDeletions(this.operations)).execute(
      new DeleteSource(id, ignoreHookErrors, context),
    );
  }

  /** The sources of workflows, and a stand-in for the workflow `p_1` that lists its sources. */
  async owned(): Promise<OwnedSources> {
    const { operations, dynamicProps, appHooks } = this;
    const readModels = new InMemoryReadModels();
    await readModels.register(SOURCES);
    return new SourcesOfWorkflows(
      operations,
      new SourceDeployments(operations, dynamicProps, appHooks, NO_STORES),
      new SourceUpdates(operations, dynamicProps, appHooks, NO_STORES),
      new SourceDeletions(operations),
      new SourceRoom(readModels, SOURCE_LIMITS),
      workflowChanges(this.disk.store),
    );
  }

  async commit(sourceIds: readonly string[], context: CommandContext): Promise<CommandResult<readonly string[]>> {
    return this.handle(workflow, 'p_1', sourceIds, context);
  }

  async stateOf(id: string): Promise<SourceState> {
    const stream = streamName(sourceDecider.category, id);
    return (await load(this.disk.store, this.upcasters, sourceDecider, stream)).state;
  }

  async view(): Promise<SourcesView> {
    const view = new SourcesView();
    for (const event of await this.disk.events()) view.apply(event);
    return view;
  }

  /** Reconciles like a start. */
  async reconcile(startedBefore?: number): Promise<Reconciled> {
    const { topics, vault, clock } = this.disk;
    return reconcileSources({
      view: await this.view(),
      handle: commandHandler({ store: this.store, upcasters: this.upcasters }),
      topics: powered(topics, ['create', 'remove'], this.power),
      vault: powered(vault, ['put', 'delete'], this.power),
      clock,
      ownerChanges: workflowChanges(this.disk.store),
      ...(startedBefore === undefined ? {} : { startedBefore }),
    });
  }
}
