import { Inject, Injectable } from '@nestjs/common';
import { type DeployableComponent } from '#libs/components/published.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { newId } from '#libs/kernel/ids.js';
import { BoundDataStores } from './bound-data-stores.js';
import { planProps } from './domain/props.js';
import { definitionOf } from './domain/source-definition.js';
import { type Accounts, ACCOUNTS } from './ports.js';
import { type ActionPlans, type PlannedAction } from './published.js';
import { configuredPropsOf } from './source-body.dto.js';

/** Plans the props of actions by the rules of a source's. */
@Injectable()
export class PlannedActions implements ActionPlans {
  constructor(
    private readonly dataStores: BoundDataStores,
    @Inject(ACCOUNTS) private readonly accounts: Accounts,
  ) {}

  async plan(
    component: DeployableComponent,
    configuredProps: unknown,
    now: number,
    context: CommandContext,
  ): Promise<PlannedAction> {
    const plan = planProps({
      props: component.configurableProps,
      componentWarnings: component.warnings,
      given: configuredPropsOf({ configured_props: configuredProps }) ?? {},
      appOf: (id) => this.accounts.find(id, context.workspaceId)?.app,
      now,
      // An action has no endpoint, because a component with one is not saved.
      newEndpointKey: () => '',
      newSecretRef: () => newId('sec', now),
    });
    const definition = await this.dataStores.bound(definitionOf(component, plan, false, []), context);
    return { definition, secrets: plan.secrets };
  }
}
