import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { type PlannedProp, type SourceDefinition } from '#libs/sources/published.js';
import { type DeployedVersion, type WorkflowTrigger } from '../published.js';
import { type JsonObject } from './check-shape.js';
import { stepsOf, textIn, triggersOf } from './definition-rules.js';

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
  /** Of a draft, so that no other one has the same blob. */
  readonly draftId?: string;
  readonly deployed: DeployedVersion;
  /** As its author gave it, in its plain form, with masks in the place of secrets. */
  readonly definition: JsonObject;
  /** In the order of the steps. */
  readonly components: readonly PinnedComponent[];
  /** The sources of its own that the version deployed. */
  readonly sources: readonly StoredSource[];
}

/** A version or a draft. */
export interface KnownVersion {
  readonly stored: StoredVersion;
  /** In the order of its definition. */
  readonly triggers: readonly WorkflowTrigger[];
}

/**
 * The first version, and of the second one the triggers and steps whose names the first lacks: what pins, secrets and
 * addresses are looked for in. A step of `files` stays out, because the files of the first may have other code.
 */
export const withOthersOf = (
  first: KnownVersion | undefined,
  second: KnownVersion | undefined,
): KnownVersion | undefined => {
  if (!first || !second) return first ?? second;
  const { stored, triggers } = first;
  const other = second.stored;
  const steps = stepsOf(other.definition).flatMap(([i, step]) => {
    const isKnown = stored.deployed.steps.some(({ namespace }) => namespace === step['namespace']);
    const [deployed, component] = [other.deployed.steps[i], other.components[i]];
    if (isKnown || !deployed || !component || textIn(step, 'uses')?.startsWith('./') === true) return [];
    return [{ step, deployed, component }];
  });
  const others = triggersOf(other.definition).flatMap(([i, given]) => {
    const trigger = second.triggers[i];
    return !trigger || triggers.some(({ name }) => name === trigger.name) ? [] : [{ given, trigger }];
  });
  const names = others.map(({ trigger: { name } }) => name);
  return {
    triggers: [...triggers, ...others.map(({ trigger }) => trigger)],
    stored: {
      deployed: { ...stored.deployed, steps: [...stored.deployed.steps, ...steps.map(({ deployed }) => deployed)] },
      definition: {
        ...stored.definition,
        triggers: [...triggersOf(stored.definition).map(([, given]) => given), ...others.map(({ given }) => given)],
        steps: [...stepsOf(stored.definition).map(([, step]) => step), ...steps.map(({ step }) => step)],
      },
      components: [...stored.components, ...steps.map(({ component }) => component)],
      sources: [...stored.sources, ...other.sources.filter(({ trigger }) => names.includes(trigger))],
    },
  };
};

export interface StoredSource {
  /** Name of the trigger. */
  readonly trigger: string;
  readonly uses: string;
  readonly definition: SourceDefinition;
  /**
   * Vault records of the version with copies of the secrets, by prop. Those of the source itself go when it changes.
   * Absent when there are none.
   */
  readonly secrets?: Readonly<Record<string, string>>;
}

/** Id of the component to which a step or trigger with this `uses` is pinned. Undefined when none has it. */
export const pinOf = (version: StoredVersion | undefined, uses: string): string | undefined => {
  const source = version?.sources.find((each) => each.uses === uses);
  if (source) return source.definition.componentId;
  const [at] = stepsOf(version?.definition ?? {}).find(([, step]) => textIn(step, 'uses') === uses) ?? [];
  return at === undefined ? undefined : version?.components[at]?.id;
};

/** A step by its namespace, or a source of the workflow by the name of its trigger. */
export type PropOwner = { readonly step: string | undefined } | { readonly trigger: string };

/**
 * The planned props of a step or source, of those that are given. A definition replaces the former one, so it keeps
 * nothing of a prop that it leaves out. Undefined for a new one.
 */
export const storedPropsOf = (
  version: StoredVersion | undefined,
  owner: PropOwner,
  given: JsonObject,
): readonly PlannedProp[] | undefined => {
  const known =
    'step' in owner
      ? version?.deployed.steps.find(({ namespace }) => namespace === owner.step)
      : version?.sources.find(({ trigger }) => trigger === owner.trigger);
  return known?.definition.props.filter(({ prop }) => Object.hasOwn(given, prop));
};
