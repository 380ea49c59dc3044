import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { type DeployableComponent } from '#libs/components/published.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type SourceDefinition } from '../published.js';
import { type PropPlan } from './props.js';

export const definitionOf = (
  component: DeployableComponent,
  plan: PropPlan,
  emitOnDeploy: boolean,
  dynamicProps: readonly ConfigurableProp[],
): SourceDefinition => ({
  componentId: component.id,
  componentKey: component.key,
  bundleHash: component.bundleHash,
  ...(component.packages ? { packages: component.packages } : {}),
  props: plan.props,
  ...(dynamicProps.length === 0 ? {} : { dynamicProps }),
  hooks: component.hooks,
  dedupe: component.dedupe,
  emitOnDeploy,
});

/** Throws component.not_deployable for an action. See docs/reference/rest-api.md#source-action-refused. */
export const checkIsSource = (component: DeployableComponent): void => {
  if (component.kind === 'source') return;
  throw new DomainError(
    'component.not_deployable',
    `component ${component.id} (${component.name}) is an action: only a component of type source can be deployed as a source`,
    { id: component.id, expected: 'source', actual: component.kind },
  );
};
