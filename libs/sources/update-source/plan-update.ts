import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { type PackageChanges } from '#libs/component-model/package-lock.js';
import { type DeployableComponent, withDynamicProps } from '#libs/components/published.js';
import { slugOf } from '#libs/kernel/slug.js';
import { type Warning } from '#libs/kernel/warning.js';
import { newId, randomKey } from '#libs/kernel/ids.js';
import { planProps, type ConfiguredProps, type PropPlan, type PropRequest } from '../domain/props.js';
import { type SourceRecord } from '../domain/source.js';
import { definitionOf } from '../domain/source-definition.js';
import { type SourceDefinition } from '../published.js';

export interface PlannedDefinition {
  readonly definition: SourceDefinition;
  readonly secrets: PropPlan['secrets'];
  /** Warnings about the component and the request. */
  readonly warnings: readonly Warning[];
  /** Changes of the packages by a refresh. Absent without one. */
  readonly packageChanges?: PackageChanges;
}

export interface DefinitionRequest {
  readonly source: SourceRecord;
  /** A source, not an action. */
  readonly component: DeployableComponent;
  readonly dynamicProps: readonly ConfigurableProp[];
  readonly given: ConfiguredProps;
  /** Undefined keeps what is stored. */
  readonly emitOnDeploy: boolean | undefined;
  readonly appOf: PropRequest['appOf'];
  readonly now: number;
}

/**
 * The definition after the update. Given props are merged into the stored ones, and endpoints and timers are kept. See
 * docs/reference/rest-api.md#source-update-props.
 */
export const planDefinition = ({
  source,
  component,
  dynamicProps,
  given,
  emitOnDeploy,
  appOf,
  now,
}: DefinitionRequest): PlannedDefinition => {
  const plan = planProps({
    props: withDynamicProps(component.configurableProps, dynamicProps),
    componentWarnings: component.warnings,
    given,
    stored: source.definition.props,
    appOf,
    now,
    newEndpointKey: () => `e${randomKey(15)}`,
    newSecretRef: () => newId('sec', now),
  });
  const definition = definitionOf(component, plan, emitOnDeploy ?? source.definition.emitOnDeploy, dynamicProps);
  return { definition, secrets: plan.secrets, warnings: [...plan.warnings, ...(component.warnings ?? [])] };
};

/** The slug to reserve. Undefined when name and slug stay. */
export const newSlugOf = (source: SourceRecord, name: string | undefined): string | undefined =>
  name === undefined || name === source.name ? undefined : slugOf(name);
