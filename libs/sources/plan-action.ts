import { Inject, Injectable } from '@nestjs/common';
import { type DeployableComponent, withDynamicProps } from '#libs/components/published.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { newId } from '#libs/kernel/ids.js';
import { BoundDataStores } from './bound-data-stores.js';
import { planProps } from './domain/props.js';
import { definitionOf } from './domain/source-definition.js';
import { type Accounts, ACCOUNTS } from './ports.js';
import { type ActionPlans, type ConfiguredAction, type PlannedAction } from './published.js';
import { configuredPropsOf } from './source-body.dto.js';
import { SourceDynamicProps } from './source-dynamic-props.js';

/** Plans the props of actions by the rules of a source's. */
@Injectable()
export class PlannedActions implements ActionPlans {
  constructor(
    private readonly dataStores: BoundDataStores,
    private readonly dynamicProps: SourceDynamicProps,
    @Inject(ACCOUNTS) private readonly accounts: Accounts,
  ) {}

  async plan(
    component: DeployableComponent,
    configured: ConfiguredAction,
    now: number,
    context: CommandContext,
  ): Promise<PlannedAction> {
    const { workspaceId } = context;
    const { dynamicPropsId, stored, open } = configured;
    const given = configuredPropsOf({ configured_props: configured.props }) ?? {};
    const dynamicProps = await this.dynamicProps.of({ component, given, dynamicPropsId, workspaceId });
    const props = withDynamicProps(component.configurableProps, dynamicProps);
    const plan = planProps({
      props: props.filter(({ name }) => open?.has(name) !== true),
      componentWarnings: component.warnings,
      given,
      ...(stored === undefined ? {} : { stored }),
      appOf: (id) => this.accounts.find(id, workspaceId)?.app,
      now,
      // An action has no endpoint, because a component with one is not saved.
      newEndpointKey: () => '',
      newSecretRef: () => newId('sec', now),
    });
    const definition = await this.dataStores.bound(definitionOf(component, plan, false, dynamicProps), context);
    return { definition, secrets: plan.secrets, warnings: plan.warnings };
  }
}
