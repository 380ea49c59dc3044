import { type DeployableComponent } from '#libs/components/published.js';
import { newId } from '#libs/kernel/ids.js';
import { planProps } from './domain/props.js';
import { definitionOf } from './domain/source-definition.js';
import { type SourceDefinition } from './published.js';
import { configuredPropsOf } from './source-body.dto.js';

/** Props of one run of an action. */
export interface PlannedAction {
  readonly definition: SourceDefinition;
  /** Texts of the secrets that the definition refers to. They are kept for the run only. */
  readonly secrets: readonly { readonly ref: string; readonly text: string }[];
}

/**
 * Checks the configured props of an action by the rules of a source's. Throws source.invalid_prop,
 * source.missing_prop, request.invalid_parameter.
 */
export const planAction = (component: DeployableComponent, configuredProps: unknown, now: number): PlannedAction => {
  const plan = planProps({
    props: component.configurableProps,
    componentWarnings: component.warnings,
    given: configuredPropsOf({ configured_props: configuredProps }) ?? {},
    now,
    // An action has no endpoint, because a component with one is not saved.
    newEndpointKey: () => '',
    newSecretRef: () => newId('sec', now),
  });
  return { definition: definitionOf(component, plan, false), secrets: plan.secrets };
};
