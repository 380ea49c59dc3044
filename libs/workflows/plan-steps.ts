import { Inject, Injectable } from '@nestjs/common';
import {
  COMPONENT_CATALOG,
  type ComponentCatalog,
  type ComponentReference,
  type ResolvedComponent,
  withDynamicProps,
} from '#libs/components/published.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { CLOCK, VAULT } from '#libs/kernel/tokens.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type Warning } from '#libs/kernel/warning.js';
import {
  ACTION_PLANS,
  type ActionPlans,
  PROP_CHECKS,
  type PropChecks,
  propsOf,
  SECRET_MASK,
  type SourceDefinition,
} from '#libs/sources/published.js';
import { type JsonObject } from './domain/check-shape.js';
import { isImport, isObject, objectIn, stepsOf, textIn } from './domain/definition-rules.js';
import { propsWithExpressions } from './domain/expression-texts.js';
import { type Fault, type Path } from './domain/findings.js';
import { sameJson } from '#libs/kernel/same-json.js';
import { type RetryPolicy, stepIdOf } from '#libs/workflow-runs/run-plan.js';
import { numberIn, textsIn } from './domain/settings.js';
import { type PinnedComponent, pinOf, storedPropsOf, type StoredVersion } from './domain/stored-version.js';
import { readUses } from './domain/uses.js';
import { authorsFault, masked, planWarnings, propsWithout, unknownAccounts } from './plan-props.js';
import { type DeployedStep } from './published.js';

export interface StepPlan {
  readonly steps: readonly DeployedStep[];
  readonly components: readonly PinnedComponent[];
  /** The steps of the definition, with masks in the place of secrets. */
  readonly plain: readonly JsonObject[];
  /** Texts to store in the vault before the version is used. */
  readonly secrets: readonly { readonly ref: string; readonly text: string }[];
  readonly warnings: readonly Warning[];
  readonly faults: readonly Fault[];
  /** Saves the components of code steps. */
  keep(): Promise<void>;
}

export interface StepRequest {
  readonly workflowId: string;
  /** In its plain form. */
  readonly definition: JsonObject;
  /** Components that the checks found, by `uses`. */
  readonly components: ReadonlyMap<string, ResolvedComponent>;
  readonly before: StoredVersion | undefined;
  /** Whether nothing of the version in force is kept. */
  readonly refresh: boolean;
  readonly context: CommandContext;
  /** Receives the components of code steps, which the caller releases. */
  readonly built: ResolvedComponent[];
}

interface PlannedStep {
  readonly step: DeployedStep;
  readonly component: PinnedComponent;
  readonly plain: JsonObject;
  readonly secrets: StepPlan['secrets'];
  readonly warnings: readonly Warning[];
  readonly keep?: () => Promise<void>;
}

/** Makes of each step what a run needs. Builds the code of code steps, and stores nothing before `keep`. */
@Injectable()
export class StepPlans {
  constructor(
    @Inject(COMPONENT_CATALOG) private readonly catalog: ComponentCatalog,
    @Inject(ACTION_PLANS) private readonly plans: ActionPlans,
    @Inject(PROP_CHECKS) private readonly checks: PropChecks,
    @Inject(VAULT) private readonly vault: Vault,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async plan(request: StepRequest): Promise<StepPlan> {
    const planned: PlannedStep[] = [];
    const faults: Fault[] = [];
    for (const [i, given] of stepsOf(request.definition)) {
      const step = await this.withKnownSecretsMasked(given, request);
      const before = request.refresh ? undefined : unchangedStep(step, request);
      const outcome = before ?? (await this.planned(step, ['steps', i], request));
      if (Array.isArray(outcome)) faults.push(...(outcome as readonly Fault[]));
      else planned.push(outcome as PlannedStep);
    }
    return {
      steps: planned.map(({ step }) => step),
      components: planned.map(({ component }) => component),
      plain: planned.map(({ plain }) => plain),
      secrets: planned.flatMap(({ secrets }) => secrets),
      warnings: planned.flatMap(({ warnings }) => warnings),
      faults,
      keep: async () => {
        for (const { keep } of planned) await keep?.();
      },
    };
  }

  /** A secret that equals the stored one counts as its mask, so that a repeated definition changes nothing. */
  private async withKnownSecretsMasked(step: JsonObject, { before, context }: StepRequest): Promise<JsonObject> {
    const namespace = textIn(step, 'namespace');
    const stored = before?.deployed.steps.find((each) => each.namespace === namespace);
    if (!stored) return step;
    const props = new Map(Object.entries(objectIn(step, 'props')));
    for (const { prop, secretRef } of propsOf(stored.definition, 'secret')) {
      const text = props.get(prop);
      if (typeof text === 'string' && (await this.vault.get(secretRef, context.workspaceId)) === text)
        props.set(prop, SECRET_MASK);
    }
    return props.size === 0 ? step : { ...step, props: Object.fromEntries(props) };
  }

  /** The step, or what is wrong with it. */
  private async planned(step: JsonObject, path: Path, request: StepRequest): Promise<PlannedStep | readonly Fault[]> {
    const { definition, before, context } = request;
    const given = objectIn(step, 'props');
    const open = propsWithExpressions(given);
    const isLiteral = ([name]: readonly [string, unknown]): boolean => !open.has(name);
    const literal = Object.fromEntries(Object.entries(given).filter(isLiteral));
    const stored = storedPropsOf(before, { step: textIn(step, 'namespace') }, literal);
    try {
      const component = await this.componentOf(step, request);
      const unknown = unknownAccounts(component, literal, context, this.checks);
      if (unknown.size > 0 && !isImport(definition))
        return [...unknown].map(([prop, message]) => ({ path: [...path, 'props', prop], code: 'unresolved', message }));
      const configured = { props: propsWithout(literal, unknown), dynamicPropsId: undefined, stored, open };
      const plan = await this.plans.plan(component, configured, this.clock.now(), context);
      return {
        step: deployedStep(request.workflowId, step, component, plan.definition, open),
        component: pinned(component),
        plain: masked(step, plan.definition),
        secrets: plan.secrets,
        warnings: planWarnings(plan.warnings, unknown, path),
        keep: () => component.keep(),
      };
    } catch (error) {
      return [authorsFault(error, path, textIn(step, 'code') === undefined ? 'uses' : 'code')];
    }
  }

  private async componentOf(step: JsonObject, request: StepRequest): Promise<ResolvedComponent> {
    const { definition, components, before, refresh, context } = request;
    const code = textIn(step, 'code');
    if (code !== undefined) return this.built({ componentCode: code, isStep: true }, request);
    const text = textIn(step, 'uses') ?? '';
    const uses = readUses(text);
    const known = components.get(text);
    if (known) return known;
    if (uses.kind !== 'file') throw new Error(`the component of ${text} was not looked for`);
    const { [uses.path]: file, ...files } = objectIn(definition, 'files') as Readonly<Record<string, string>>;
    if (file !== undefined) {
      const reference = { componentCode: file, fileName: uses.path, files, isStep: true, refreshPackages: refresh };
      return this.built(reference, request);
    }
    return this.catalog.resolve({ componentId: pinOf(before, text) ?? '' }, context);
  }

  private async built(
    reference: ComponentReference,
    { built, context }: Pick<StepRequest, 'built' | 'context'>,
  ): Promise<ResolvedComponent> {
    const component = await this.catalog.resolve(reference, context);
    built.push(component);
    return component;
  }
}

/** A step that the version in force has with the same component and props. Only what surrounds its call may differ. */
const unchangedStep = (step: JsonObject, { workflowId, definition, before }: StepRequest): PlannedStep | undefined => {
  if (!before) return undefined;
  const [at, former] = stepsOf(before.definition).find(([, each]) => each['namespace'] === step['namespace']) ?? [];
  const deployed = at === undefined ? undefined : before.deployed.steps[at];
  const component = at === undefined ? undefined : before.components[at];
  if (!former || !deployed || !component) return undefined;
  const uses = textIn(step, 'uses');
  const isSame =
    ['uses', 'code'].every((key) => step[key] === former[key]) &&
    sameJson(objectIn(step, 'props'), objectIn(former, 'props')) &&
    (uses === undefined || readUses(uses).kind !== 'file' || sameFiles(uses, definition, before.definition));
  if (!isSame) return undefined;
  const open = new Set(Object.keys(deployed.open));
  const surrounded = { ...surroundings(workflowId, step), kind: deployed.kind, definition: deployed.definition };
  const { propTypes } = deployed;
  const values = { open: openValues(step, open), propTypes };
  return { step: { ...surrounded, ...values }, component, plain: step, secrets: [], warnings: [] };
};

/** A definition without the file keeps the pin. */
const sameFiles = (uses: string, now: JsonObject, before: JsonObject): boolean => {
  const files = objectIn(now, 'files');
  return !Object.hasOwn(files, uses.slice(2)) || sameJson(files, objectIn(before, 'files'));
};

const surroundings = (
  workflowId: string,
  step: JsonObject,
): Omit<DeployedStep, 'kind' | 'definition' | 'open' | 'propTypes'> => {
  const namespace = textIn(step, 'namespace') ?? '';
  const list = textIn(step, 'for_each');
  return {
    namespace,
    id: stepIdOf(workflowId, namespace),
    name: textIn(step, 'name') ?? null,
    disabled: step['disabled'] === true,
    if: textIn(step, 'if') ?? null,
    ...(list === undefined ? {} : { loop: { list, concurrency: numberIn(step, 'concurrency') ?? 1 } }),
    retry: isObject(step['retry']) ? retryOf(step['retry']) : null,
    timeoutSeconds: numberIn(step, 'timeout_seconds') ?? null,
    onError: textIn(step, 'on_error') ?? 'stop',
  };
};

const retryOf = (retry: JsonObject): RetryPolicy => ({
  maxRetries: numberIn(retry, 'max_retries') ?? 0,
  delaySeconds: numberIn(retry, 'delay_seconds') ?? 10,
  backoff: retry['backoff'] === 'fixed' ? 'fixed' : 'exponential',
  alsoOn: textsIn(retry, 'also_on'),
});

const openValues = (step: JsonObject, open: ReadonlySet<string>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(objectIn(step, 'props')).filter(([name]) => open.has(name)));

const deployedStep = (
  workflowId: string,
  step: JsonObject,
  component: ResolvedComponent,
  definition: SourceDefinition,
  open: ReadonlySet<string>,
): DeployedStep => ({
  ...surroundings(workflowId, step),
  kind: textIn(step, 'code') !== undefined || readUses(textIn(step, 'uses') ?? '').kind === 'file' ? 'code' : 'action',
  definition,
  open: openValues(step, open),
  propTypes: withDynamicProps(component.configurableProps, definition.dynamicProps ?? []).map(
    ({ name, type, optional, default: otherwise }) => ({
      name,
      type,
      ...(optional === undefined ? {} : { optional }),
      ...(otherwise === undefined ? {} : { default: otherwise }),
    }),
  ),
});

const pinned = ({
  id,
  key,
  version,
  description,
  codeHash,
  configurableProps,
}: ResolvedComponent): PinnedComponent => ({ id, key, version, description, codeHash, configurableProps });
