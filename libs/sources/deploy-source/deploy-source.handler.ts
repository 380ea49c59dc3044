import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type PackageChanges } from '#libs/component-model/package-lock.js';
import {
  COMPONENT_CATALOG,
  type ComponentCatalog,
  type ComponentReference,
  type ResolvedComponent,
  withDynamicProps,
} from '#libs/components/published.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { newId, randomKey } from '#libs/kernel/ids.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { checkRoom, RESOURCE_LIMITS } from '#libs/kernel/resource-limits.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { type Warning } from '#libs/kernel/warning.js';
import { AppHookPlans } from '../app-hook-plans.js';
import { BoundDataStores } from '../bound-data-stores.js';
import { slugOf } from '../domain/name-slug.js';
import { planProps, type ConfiguredProps, type PropPlan } from '../domain/props.js';
import { deployedSource, secretRefsOf, type SourceRecord } from '../domain/source.js';
import { checkIsSource, definitionOf } from '../domain/source-definition.js';
import { type SourceDefinition } from '../published.js';
import { failureOf } from '../failure-of.js';
import { type HookSession } from '../hook-session.js';
import { SOURCES } from '../read-models/sources.projection.js';
import { SourceDynamicProps } from '../source-dynamic-props.js';
import { SourceOperations } from '../source-operations.js';
import { type SourceLimits } from '../limits.js';

export interface DeploySourceRequest {
  readonly reference: ComponentReference;
  readonly name?: string;
  readonly configuredProps: ConfiguredProps;
  readonly emitOnDeploy: boolean;
  readonly dynamicPropsId?: string;
}

export interface SourceResult {
  readonly source: SourceRecord;
  /** Number of the last event of the operation. */
  readonly revision: number;
  readonly workspaceId: string;
  readonly position: Position | undefined;
  /** Warnings about the component and the request. */
  readonly warnings?: readonly Warning[];
  /** Changes of the component's packages by a refresh. Absent without one. */
  readonly packageChanges?: PackageChanges;
}

export class DeploySource extends Command<SourceResult> {
  constructor(
    readonly request: DeploySourceRequest,
    readonly context: CommandContext,
  ) {
    super();
  }
}

interface Deployment {
  readonly sourceId: string;
  readonly component: ResolvedComponent;
  readonly name: string;
  readonly nameSlug: string;
  readonly definition: SourceDefinition;
  readonly secrets: PropPlan['secrets'];
  readonly hooks: HookSession;
  activateStarted: boolean;
}

/**
 * Creates a source. See docs/reference/component-model.md#deploy-order. Throws source.hook_failed, and the errors that
 * refuse its component, props or name.
 */
@CommandHandler(DeploySource)
export class DeploySourceHandler implements ICommandHandler<DeploySource> {
  constructor(
    private readonly operations: SourceOperations,
    private readonly dynamicProps: SourceDynamicProps,
    private readonly appHooks: AppHookPlans,
    private readonly dataStores: BoundDataStores,
    @Inject(COMPONENT_CATALOG) private readonly components: ComponentCatalog,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(RESOURCE_LIMITS) private readonly limits: SourceLimits,
  ) {}

  async execute({ request, context }: DeploySource): Promise<SourceResult> {
    await this.mustHaveRoom(context.workspaceId);

    // 1. Find the component, or check its code.
    const component = await this.components.resolve(request.reference, context);
    try {
      return await this.deployed(component, request, context);
    } finally {
      await this.operations.bestEffort(component.id, 'releasing code', () => component.release());
    }
  }

  private async deployed(
    component: ResolvedComponent,
    request: DeploySourceRequest,
    context: CommandContext,
  ): Promise<SourceResult> {
    const { operations } = this;
    const now = operations.clock.now();
    checkIsSource(component);

    // 2. Find the props that additionalProps adds, and check the values of all.
    const { configuredProps: given, dynamicPropsId } = request;
    const { workspaceId } = context;
    const dynamicProps = await this.dynamicProps.of({ component, given, dynamicPropsId, workspaceId });
    const plan = planProps({
      props: withDynamicProps(component.configurableProps, dynamicProps),
      componentWarnings: component.warnings,
      given,
      appOf: (id) => operations.accounts.find(id, workspaceId)?.app,
      now,
      newEndpointKey: () => `e${randomKey(15)}`,
      newSecretRef: () => newId('sec', now),
    });
    const bare = definitionOf(component, plan, request.emitOnDeploy, dynamicProps);
    const hooked = await this.appHooks.planned(bare, { component, given, workspaceId });
    const definition = await this.dataStores.bound(hooked.definition, context);

    // 3. Reserve a name slug. It is the source's first trace and the last to go, so that a crash can be cleaned up.
    const sourceId = newId('dc', now);
    const name = request.name ?? slugOf(component.name);
    const nameSlug = await operations.slugs.reserve(slugOf(name), sourceId, secretRefsOf(definition), context);

    const hooks = operations.hookSession(sourceId, context.workspaceId);
    const { secrets } = plan;
    const warnings = [...plan.warnings, ...hooked.warnings, ...(component.warnings ?? [])];
    const deployment = { sourceId, component, name, nameSlug, definition, secrets, hooks, activateStarted: false };
    try {
      const { packageChanges } = component;
      const told = { warnings, ...(packageChanges === undefined ? {} : { packageChanges }) };
      return { ...(await this.deploy(deployment, context)), ...told };
    } catch (error) {
      await this.undo(deployment, error, context);
      throw error;
    }
  }

  private mustHaveRoom(workspaceId: string): Promise<void> {
    const limit = this.limits.sourcesPerWorkspace;
    const counted = { what: 'sources', owner: 'workspace', limit, setting: 'SLUICE_MAX_SOURCES' } as const;
    return checkRoom(this.readModels, SOURCES, { workspaceId }, counted);
  }

  private async deploy(deployment: Deployment, context: CommandContext): Promise<SourceResult> {
    const { operations } = this;
    const { sourceId, name, nameSlug, definition, hooks } = deployment;

    // 4. Store secrets and 5. create topics before the source exists.
    await operations.storeSecrets(deployment.secrets, context.workspaceId);
    await operations.createTopics(sourceId);

    // 6. Start the deployment. From here on the endpoints serve, although the source is not listed.
    const started = { name, nameSlug, definition, userId: context.actor.userId, now: operations.clock.now() };
    const { position: startedAt } = await operations.decide(
      sourceId,
      { type: 'StartDeployment', sourceId, ...started },
      context,
    );
    await operations.untilServed(definition, startedAt);

    // 7. Run deploy, then 8. activate. Both see one db.
    await hooks.run(definition, 'deploy');
    deployment.activateStarted = true;
    await hooks.run(definition, 'activate');

    // 9. Save inline code, which nothing refuses any more. A source must never lack its component.
    await deployment.component.keep();

    // 10. Finish the deployment, which arms the timers and lists the source.
    const finish = { type: 'FinishDeployment', now: operations.clock.now() } as const;
    const { state, position, revision } = await operations.decide(sourceId, finish, context);
    await operations.bestEffort(sourceId, 'notifying the runner', () => operations.operationEnded(sourceId));
    const source = deployedSource(state);
    if (!source) throw new Error(`source ${sourceId} is ${state.status} after its deployment`);
    return { source, revision: Number(revision), workspaceId: context.workspaceId, position };
  }

  /** Removes all data of the source. When a step fails, the slug stays held and the next start continues there. */
  private async undo(deployment: Deployment, error: unknown, context: CommandContext): Promise<void> {
    const { operations } = this;
    const { sourceId, nameSlug, definition } = deployment;
    if (deployment.activateStarted) {
      const hooks = operations.hookSession(sourceId, context.workspaceId);
      await operations.bestEffort(sourceId, 'deactivate after a failed deployment', () =>
        hooks.run(definition, 'deactivate'),
      );
    }
    await operations.bestEffort(sourceId, 'removal after a failed deployment', async () => {
      const command = { type: 'FailDeployment', ...failureOf(error), now: operations.clock.now() } as const;
      const { state } = await operations.decide(sourceId, command, context);
      // The log has the last event although its answer was lost, so the source is deployed and stays.
      if (state.status === 'deployed') return;
      await operations.operationEnded(sourceId);
      await operations.forget({ sourceId, nameSlug, secretRefs: secretRefsOf(definition) }, context);
    });
  }
}
