import { Inject, Injectable, Logger } from '@nestjs/common';
import { type ResolvedComponent } from '#libs/components/published.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { newId, randomKey } from '#libs/kernel/ids.js';
import { sameJson } from '#libs/kernel/same-json.js';
import { newTokenHash, tokenMatches } from '#libs/kernel/token-hash.js';
import { BLOBS, CLOCK, VAULT } from '#libs/kernel/tokens.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type Warning } from '#libs/kernel/warning.js';
import { TOKEN_VARIABLES, type TokenVariables } from '#libs/variables/published.js';
import { DefinitionChecks, type CheckedDefinition, type GivenDefinition } from './definition-checks.js';
import { type JsonObject } from './domain/check-shape.js';
import { MAX_FINDINGS, pathOf } from './domain/findings.js';
import { plainDefinition } from './domain/plain-definition.js';
import { settingsOf } from './domain/settings.js';
import { type KnownVersion, type PinnedComponent, type StoredVersion } from './domain/stored-version.js';
import { NO_SOURCE, planTriggers, restorable, type TriggerRequest } from './domain/triggers.js';
import { type Deployment, type Draft, type WorkflowRecord } from './domain/workflow.js';
import { stepOf } from './external-ids.js';
import { StepPlans } from './plan-steps.js';
import { type SourcesPlan, TriggerSources } from './trigger-sources.js';
import { TRIGGER_REFERENCES, type TriggerReferences } from './ports.js';
import { type DeployedStep, type DeployedVersion, type WorkflowTrigger } from './published.js';

/** What a change begins from. */
export interface Present {
  readonly workflow: WorkflowRecord;
  /** Undefined before the first deployment. */
  readonly inForce: KnownVersion | undefined;
  readonly draft: KnownVersion | undefined;
}

/** Everything of a version but its number and its id. Nothing of it is stored yet. */
export interface PlannedVersion {
  readonly definition: JsonObject;
  readonly triggers: readonly WorkflowTrigger[];
  readonly steps: readonly DeployedStep[];
  readonly components: readonly PinnedComponent[];
  readonly sources: SourcesPlan['sources'];
  readonly storedSources: StoredVersion['sources'];
  readonly secrets: readonly { readonly ref: string; readonly text: string }[];
  readonly warnings: readonly Warning[];
  /** Number of the version that it puts in force again. */
  readonly restoredFrom?: number;
  keep(): Promise<void>;
}

interface PlanRequest {
  readonly workflowId: string;
  readonly given: GivenDefinition;
  readonly checked: CheckedDefinition;
  /** Whose pins, secrets and addresses are kept. */
  readonly before: KnownVersion | undefined;
  readonly refresh: boolean;
  readonly isDraft?: boolean;
  readonly context: CommandContext;
}

/** Makes versions of definitions. */
@Injectable()
export class Deployments {
  private readonly logger = new Logger('workflows');

  constructor(
    private readonly checks: DefinitionChecks,
    private readonly stepPlans: StepPlans,
    private readonly triggerSources: TriggerSources,
    @Inject(TRIGGER_REFERENCES) private readonly references: TriggerReferences,
    @Inject(TOKEN_VARIABLES) private readonly variables: TokenVariables,
    @Inject(BLOBS) private readonly blobs: BlobStore,
    @Inject(VAULT) private readonly vault: Vault,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async present(workflow: WorkflowRecord): Promise<Present> {
    const { deployed, draft } = workflow;
    return { workflow, inForce: await this.known(deployed), draft: await this.known(draft) };
  }

  private async known(
    of: { readonly versionHash: string; readonly triggers: readonly WorkflowTrigger[] } | null,
  ): Promise<KnownVersion | undefined> {
    return of === null ? undefined : { stored: await readVersion(this.blobs, of.versionHash), triggers: of.triggers };
  }

  /**
   * Builds the code, and calls `act` with a version of which nothing is stored yet. Throws workflow.invalid_definition.
   */
  async planned<T>(request: PlanRequest, act: (planned: PlannedVersion) => Promise<T>): Promise<T> {
    const built: ResolvedComponent[] = [];
    try {
      return await act(await this.plan(request, built));
    } finally {
      for (const component of built) await this.released(component);
    }
  }

  /** Code that is not released can be read for a day longer, and nothing else. */
  private async released(component: ResolvedComponent): Promise<void> {
    try {
      await component.release();
    } catch (error) {
      this.logger.warn({ msg: 'releasing code failed', componentId: component.id, err: error });
    }
  }

  private async plan(
    { workflowId, given, checked, before, refresh, isDraft = false, context }: PlanRequest,
    built: ResolvedComponent[],
  ): Promise<PlannedVersion> {
    const isSource = (id: string): boolean => this.references.isSource(id, context.workspaceId);
    const triggers = planTriggers(plainDefinition(checked.definition, isSource), {
      ...this.triggerRequest(workflowId),
      ...(isDraft ? { newSourceId: () => NO_SOURCE } : {}),
      before: before?.triggers ?? [],
    });
    if (triggers.faults.length > 0) throw await this.checks.invalid(given, triggers.faults);
    const { components } = checked;
    const { sources: wanted, definition: plain } = triggers;
    const sourcesOf = { wanted, definition: plain, components, before, refresh, isDraft, context };
    const owned = await this.triggerSources.plan(sourcesOf);
    const { definition, sources, stored: storedSources } = owned;
    const plan = await this.stepPlans.plan({
      workflowId,
      definition,
      components,
      before: before?.stored,
      refresh,
      context,
      built,
    });
    const warnings = [...owned.warnings, ...plan.warnings];
    const asFaults = checked.strict ? warnings.map((each) => ({ ...each, path: pathOf(each.path) })) : [];
    const faults = [...owned.faults, ...plan.faults, ...asFaults];
    if (faults.length > 0) throw await this.checks.invalid(given, faults);
    return {
      definition: { ...definition, steps: plan.plain },
      triggers: triggers.triggers,
      steps: plan.steps,
      components: plan.components,
      sources,
      storedSources,
      secrets: [...owned.secrets, ...plan.secrets],
      warnings: once([...checked.warnings, ...warnings]),
      keep: () => plan.keep(),
    };
  }

  /**
   * Plans a former version, or a draft, with its pins and secrets. Names that are in force keep their URLs, sources and ticks. Throws
   * workflow.invalid_definition when something that its triggers need is gone.
   */
  async restored(
    workflowId: string,
    { stored, triggers: former }: KnownVersion,
    inForce: KnownVersion | undefined,
    context: CommandContext,
  ): Promise<PlannedVersion> {
    const { definition, deployed, components } = stored;
    const triggers = planTriggers(definition, {
      ...this.triggerRequest(workflowId),
      before: restorable(former, inForce?.triggers ?? []),
    });
    const owned = await this.triggerSources.restore({ wanted: triggers.sources, from: stored, inForce, context });
    const faults = [...triggers.faults, ...this.checks.goneEmitters(definition, context), ...owned.faults];
    if (faults.length > 0) throw await this.checks.invalid({ json: definition }, faults);
    return {
      definition,
      triggers: triggers.triggers,
      steps: deployed.steps,
      components,
      sources: owned.sources,
      storedSources: owned.stored,
      secrets: owned.secrets,
      warnings: owned.warnings,
      keep: () => Promise.resolve(),
    };
  }

  private triggerRequest(workflowId: string): Omit<TriggerRequest, 'before'> {
    return {
      workflowId,
      newKey: () => `e${randomKey(15)}`,
      newSourceId: () => newId('dc', this.clock.now()),
      newHash: newTokenHash,
      matches: tokenMatches,
      now: this.clock.now(),
    };
  }

  /**
   * Stores everything that a version refers to, before the event. A failure between leaves an unreferenced secret and
   * blob. They are not rolled back, because the append may have succeeded although its answer was lost.
   */
  async store(
    workflowId: string,
    version: number,
    planned: PlannedVersion,
    context: CommandContext,
  ): Promise<{ readonly deployment: Deployment; readonly stored: StoredVersion }> {
    for (const name of tokenVariables(planned.triggers)) await this.variables.keepHash(name, stepOf(context));
    const deploymentId = newId('d', this.clock.now());
    const stored = storedVersion(workflowId, { deploymentId, version }, planned);
    const { restoredFrom } = planned;
    const of = { deploymentId, userId: context.actor.userId, ...(await this.kept(stored, planned, context)) };
    return { deployment: restoredFrom === undefined ? of : { ...of, restoredFrom }, stored };
  }

  /** Stores everything that a draft refers to, as of a version. */
  async storeDraft(
    workflowId: string,
    planned: PlannedVersion,
    face: Draft['face'],
    context: CommandContext,
  ): Promise<{ readonly draft: Draft; readonly stored: StoredVersion }> {
    const draftId = newId('d', this.clock.now());
    const stored = { draftId, ...storedVersion(workflowId, { deploymentId: null, version: null }, planned) };
    return { draft: { draftId, face, ...(await this.kept(stored, planned, context)) }, stored };
  }

  private async kept(
    stored: StoredVersion,
    planned: PlannedVersion,
    { workspaceId }: CommandContext,
  ): Promise<Omit<Draft, 'draftId' | 'face'>> {
    const { triggers, secrets } = planned;
    await planned.keep();
    for (const { ref, text } of secrets) await this.vault.put(ref, workspaceId, text);
    const versionHash = await this.blobs.put(JSON.stringify(stored));
    return { settings: stored.deployed.settings, triggers, versionHash, secretRefs: secretRefsOf(stored) };
  }
}

const storedVersion = (
  workflowId: string,
  id: Pick<DeployedVersion, 'deploymentId' | 'version'>,
  { definition, steps, components, storedSources: sources }: PlannedVersion,
): StoredVersion => ({
  deployed: { workflowId, ...id, settings: settingsOf(definition), steps },
  definition,
  components,
  sources,
});

/** The checks tell of literal props too, which the plans of steps look at again. The first 50 are kept. */
const once = (warnings: readonly Warning[]): readonly Warning[] =>
  [...new Map(warnings.map((each) => [`${each.code} ${each.path}`, each])).values()].slice(0, MAX_FINDINGS);

/** Whether the planned version is this one. The schema decides how a definition is checked, and not what it does. */
export const isSame = (
  planned: Pick<PlannedVersion, 'definition' | 'triggers' | 'steps' | 'sources'>,
  { stored, triggers }: KnownVersion,
): boolean =>
  sameJson({ ...planned.definition, schema: null }, { ...stored.definition, schema: null }) &&
  sameJson(planned.triggers, triggers) &&
  sameJson(planned.steps, stored.deployed.steps) &&
  planned.sources.every((source) => !('isChanged' in source) || !source.isChanged);

export const readVersion = async (blobs: Pick<BlobStore, 'get'>, hash: string): Promise<StoredVersion> => {
  const text = await blobs.get(hash);
  if (text === undefined) throw new Error(`the blob ${hash} of a version is missing`);
  return JSON.parse(text) as StoredVersion;
};

/** Variables whose values are tokens of these triggers. */
const tokenVariables = (triggers: readonly WorkflowTrigger[]): ReadonlySet<string> =>
  new Set(
    triggers.flatMap((trigger) =>
      trigger.kind === 'http' && trigger.auth !== null && 'variable' in trigger.auth ? [trigger.auth.variable] : [],
    ),
  );

const secretRefsOf = ({ deployed: { steps }, sources }: StoredVersion): readonly string[] => [
  ...steps.flatMap(({ definition }) =>
    definition.props.flatMap((planned) => ('secretRef' in planned ? (planned.secretRef ?? []) : [])),
  ),
  ...sources.flatMap(({ secrets = {} }) => Object.values(secrets)),
];
