import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { type PlannedProp } from '#libs/sources/published.js';
import { type DeployedVersion } from '../published.js';
import { type JsonObject } from './check-shape.js';
import { stepsOf, textIn } from './definition-rules.js';

/** What a reader sees of the component of a step. */
export interface PinnedComponent {
  readonly id: string;
  readonly key: string | null;
  readonly version: string;
  readonly description: string | null;
  readonly codeHash: string;
  readonly configurableProps: readonly ConfigurableProp[];
}

/** The blob of a version. */
export interface StoredVersion {
  readonly deployed: DeployedVersion;
  /** As its author gave it, in its plain form, with masks in the place of secrets. */
  readonly definition: JsonObject;
  /** In the order of the steps. */
  readonly components: readonly PinnedComponent[];
}

/** Id of the component to which a step with this `uses` is pinned. Undefined when no step has it. */
export const pinOf = (version: StoredVersion | undefined, uses: string): string | undefined => {
  const [at] = stepsOf(version?.definition ?? {}).find(([, step]) => textIn(step, 'uses') === uses) ?? [];
  return at === undefined ? undefined : version?.components[at]?.id;
};

/**
 * The planned props of a step, of those that are given. A definition replaces the former one, so it keeps nothing of a
 * prop that it leaves out. Undefined for a new step.
 */
export const storedPropsOf = (
  version: StoredVersion | undefined,
  namespace: string | undefined,
  given: JsonObject,
): readonly PlannedProp[] | undefined =>
  version?.deployed.steps
    .find((step) => step.namespace === namespace)
    ?.definition.props.filter(({ prop }) => Object.hasOwn(given, prop));
