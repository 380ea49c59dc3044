import { Injectable } from '@nestjs/common';
import { type ResolvedComponent, withDynamicProps } from '#libs/components/published.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { newId, randomKey } from '#libs/kernel/ids.js';
import { slugOf } from '#libs/kernel/slug.js';
import { type Warning } from '#libs/kernel/warning.js';
import { AppHookPlans } from '../app-hook-plans.js';
import { BoundDataStores } from '../bound-data-stores.js';
import { planProps, type ConfiguredProps, type PropPlan } from '../domain/props.js';
import { secretRefsOf } from '../domain/source.js';
import { checkIsSource, definitionOf } from '../domain/source-definition.js';
import { failureOf } from '../failure-of.js';
import { type HookSession } from '../hook-session.js';
import { type SourceDefinition, type SourceOwner } from '../published.js';
import { SourceDynamicProps } from '../source-dynamic-props.js';
import { type SourceOperation } from '../source-operation.js';
import { SourceOperations, type SourceResult } from '../source-operations.js';

export interface DeploymentRequest {
  readonly sourceId: string;
  readonly name?: string;
  readonly configuredProps: ConfiguredProps;
  readonly emitOnDeploy: boolean;
  readonly dynamicPropsId?: string;
}

/** A source to deploy, of which nothing is stored yet but data stores. */
export interface DeploymentPlan {
  readonly kind: 'deployment';
  readonly sourceId: string;
  readonly component: ResolvedComponent;
  readonly name: string;
  readonly definition: SourceDefinition;
  readonly secrets: PropPlan['secrets'];
  readonly warnings: readonly Warning[];
}

interface DeploymentOptions {
  readonly active: boolean;
  readonly owner?: SourceOwner;
  readonly workflowChange?: string;
}

/** Deploys sources. See docs/reference/component-model.md#deploy-order. */
@Injectable()
export class SourceDeployments {
  constructor(
    private readonly operations: SourceOperations,
    private readonly dynamicProps: SourceDynamicProps,
    private readonly appHooks: AppHookPlans,
    private readonly dataStores: BoundDataStores,
  ) {}

  /** Finds the props that additionalProps adds, and checks the values of all. */
  async planned(
    component: ResolvedComponent,
    request: DeploymentRequest,
    context: CommandContext,
  ): Promise<DeploymentPlan> {
    const { operations } = this;
    const now = operations.clock.now();
    checkIsSource(component);
    const { sourceId, configuredProps: given, dynamicPropsId } = request;
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
    const warnings = [...plan.warnings, ...hooked.warnings, ...(component.warnings ?? [])];
    const name = request.name ?? slugOf(component.name);
    return { kind: 'deployment', sourceId, component, name, definition, secrets: plan.secrets, warnings };
  }

  deployment(plan: DeploymentPlan, options: DeploymentOptions, context: CommandContext): SourceOperation<SourceResult> {
    return new Deployment(this.operations, plan, options, context);
  }
}

class Deployment implements SourceOperation<SourceResult> {
  readonly sourceId: string;
  private readonly hooks: HookSession;
  private nameSlug: string | undefined;
  private activateStarted = false;

  constructor(
    private readonly operations: SourceOperations,
    private readonly plan: DeploymentPlan,
    private readonly options: DeploymentOptions,
    private readonly context: CommandContext,
  ) {
    this.sourceId = plan.sourceId;
    this.hooks = operations.hookSession(plan.sourceId, context.workspaceId);
  }

  async prepare(): Promise<void> {
    const { operations, sourceId, context, hooks } = this;
    const { name, definition, secrets } = this.plan;

    // 3. Reserve a name slug. It is the source's first trace and the last to go, so that a crash can be cleaned up.
    const nameSlug = await operations.slugs.reserve(slugOf(name), sourceId, secretRefsOf(definition), context);
    this.nameSlug = nameSlug;

    // 4. Store secrets and 5. create topics before the source exists.
    await operations.storeSecrets(secrets, context.workspaceId);
    await operations.createTopics(sourceId);

    // 6. Start the deployment. From here on the endpoints serve, although the source is not listed.
    const started = { name, nameSlug, definition, userId: context.actor.userId, now: operations.clock.now() };
    const start = { type: 'StartDeployment', sourceId, ...started, ...this.options } as const;
    const { position } = await operations.decide(sourceId, start, context);
    await operations.untilServed(definition, position);

    // 7. Run deploy, then 8. activate. Both see one db.
    await hooks.run(definition, 'deploy');
    if (this.options.active) {
      this.activateStarted = true;
      await hooks.run(definition, 'activate');
    }

    // 9. Save inline code, which nothing refuses any more. A source must never lack its component.
    await this.plan.component.keep();
  }

  async finish(): Promise<SourceResult> {
    const { operations, sourceId, context } = this;

    // 10. Finish the deployment, which arms the timers and lists the source.
    const finish = { type: 'FinishDeployment', now: operations.clock.now() } as const;
    const finished = await operations.decide(sourceId, finish, context);
    await operations.bestEffort(sourceId, 'notifying the runner', () => operations.operationEnded(sourceId));
    return operations.resultOf(sourceId, finished, context);
  }

  /** Removes all data of the source. When a step fails, the slug stays held and the next start continues there. */
  async undo(error: unknown): Promise<void> {
    const { operations, sourceId, nameSlug, context } = this;
    const { definition } = this.plan;
    if (nameSlug === undefined) return;
    if (this.activateStarted) {
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

  revert(error: unknown): Promise<void> {
    return this.undo(error);
  }
}
