import { Inject, Injectable } from '@nestjs/common';
import { COMPONENT_CATALOG, type ComponentCatalog, type ResolvedComponent } from '#libs/components/published.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { sameJson } from '#libs/kernel/same-json.js';
import { type Warning } from '#libs/kernel/warning.js';
import {
  OWNED_SOURCES,
  type OwnedSource,
  type OwnedSources,
  type PlannedSource,
  PROP_CHECKS,
  type PropChecks,
} from '#libs/sources/published.js';
import { type JsonObject } from './domain/check-shape.js';
import { isImport, objectIn, triggersOf } from './domain/definition-rules.js';
import { type Fault } from './domain/findings.js';
import { type WantedTriggerSource } from './domain/triggers.js';
import { type KnownVersion, type StoredVersion } from './domain/stored-version.js';
import { type WorkflowRecord } from './domain/workflow.js';
import { authorsFault, masked, planWarnings, propsWithout, unknownAccounts } from './plan-props.js';
import { ownsSource } from './published.js';
import { SourceSecrets } from './source-secrets.js';

interface SourcesRequest {
  readonly wanted: readonly WantedTriggerSource[];
  /** In its plain form. */
  readonly definition: JsonObject;
  /** Components that the checks found, by `uses`. */
  readonly components: ReadonlyMap<string, ResolvedComponent>;
  readonly before: KnownVersion | undefined;
  readonly refresh: boolean;
  /** Whether the sources are not deployed. */
  readonly isDraft: boolean;
  readonly context: CommandContext;
}

export interface SourcesPlan {
  readonly sources: readonly (OwnedSource | PlannedSource)[];
  /** With masks in the place of the secrets of triggers. */
  readonly definition: JsonObject;
  /** What a version stores of them. */
  readonly stored: StoredVersion['sources'];
  /** Copies of their secrets, which a version stores too. */
  readonly secrets: readonly { readonly ref: string; readonly text: string }[];
  readonly warnings: readonly Warning[];
  readonly faults: readonly Fault[];
}

interface RestoredSources {
  readonly wanted: readonly WantedTriggerSource[];
  readonly from: StoredVersion;
  readonly inForce: KnownVersion | undefined;
  readonly context: CommandContext;
}

const NONE_UNKNOWN: ReadonlyMap<string, string> = new Map();

type OpenPlan = { [K in keyof Omit<SourcesPlan, 'definition'>]: SourcesPlan[K][number][] };

/** The sources that belong to a workflow, by its triggers in force. */
export const ownedSourcesOf = ({ deployed }: WorkflowRecord): readonly OwnedSource[] =>
  (deployed?.triggers ?? [])
    .filter(ownsSource)
    .map(({ name: trigger, emitterId: sourceId }) => ({ trigger, sourceId }));

/** Plans the sources that triggers ask their workflow to deploy. Stores nothing but data stores of unused names. */
@Injectable()
export class TriggerSources {
  constructor(
    @Inject(OWNED_SOURCES) private readonly owned: OwnedSources,
    @Inject(PROP_CHECKS) private readonly checks: PropChecks,
    private readonly copies: SourceSecrets,
    @Inject(COMPONENT_CATALOG) private readonly catalog: ComponentCatalog,
  ) {}

  async plan({ wanted, definition, ...request }: SourcesRequest): Promise<SourcesPlan> {
    const { components, before, refresh, isDraft, context } = request;
    const triggers = triggersOf(definition).map(([, trigger]) => trigger);
    const sources: SourcesPlan['sources'][number][] = [];
    const stored: StoredVersion['sources'][number][] = [];
    const secrets: SourcesPlan['secrets'][number][] = [];
    const warnings: Warning[] = [];
    const faults: Fault[] = [];
    for (const { at, uses, props, ...source } of wanted) {
      const component = components.get(uses);
      const trigger = triggers[at];
      if (!component || !trigger) throw new Error(`the component of ${uses} was not looked for`);
      const mayStay = !refresh && (isDraft || !source.isNew);
      const kept = before && mayStay ? keptSource(source.trigger, trigger, before) : undefined;
      if (kept) {
        sources.push(source);
        stored.push(kept);
        continue;
      }
      const unknown = isImport(definition) ? unknownAccounts(component, props, context, this.checks) : NONE_UNKNOWN;
      const given = propsWithout(props, unknown);
      const known = before?.stored.sources.find((each) => each.trigger === source.trigger && each.secrets);
      // A source that is in force knows its secrets itself.
      const former = isDraft || source.isNew ? known : undefined;
      try {
        const clear = former ? await this.copies.inClear(former, undefined, given, context) : given;
        const planned = await this.owned.plan({ ...source, component, props: clear }, context);
        sources.push(planned);
        const copied = await this.copies.of(planned, context);
        stored.push({ trigger: source.trigger, uses, definition: planned.definition, ...copied.stored });
        secrets.push(...copied.secrets);
        triggers[at] = masked(trigger, planned.definition);
        warnings.push(...planWarnings(planned.warnings, unknown, ['triggers', at]));
      } catch (error) {
        faults.push(authorsFault(error, ['triggers', at], 'uses'));
      }
    }
    const shown = wanted.length === 0 ? definition : { ...definition, triggers };
    return { sources, stored, secrets, definition: shown, warnings, faults };
  }

  /** Plans the sources of a former version, with its code and its secrets. */
  async restore({ wanted, from, inForce, context }: RestoredSources): Promise<Omit<SourcesPlan, 'definition'>> {
    const plan = { sources: [], stored: [], secrets: [], warnings: [], faults: [] } as OpenPlan;
    for (const { at, uses, props, ...source } of wanted) {
      const { trigger, isNew } = source;
      const former = from.sources.find((each) => each.trigger === trigger);
      if (!former) throw new Error(`the version to restore lacks its source ${trigger}`);
      const present = isNew ? undefined : inForce?.stored.sources.find((each) => each.trigger === trigger);
      if (sameJson(former, present)) {
        plan.sources.push(source);
        plan.stored.push(former);
        continue;
      }
      try {
        const { componentId } = former.definition;
        const component = await this.catalog.resolve({ componentId }, context);
        const clear = await this.copies.inClear(former, present, props, context);
        const planned = await this.owned.plan({ ...source, component, props: clear }, context);
        const copied = await this.copies.of(planned, context);
        plan.sources.push(planned);
        plan.stored.push({ trigger, uses, definition: planned.definition, ...copied.stored });
        plan.secrets.push(...copied.secrets);
        plan.warnings.push(...planned.warnings);
      } catch (error) {
        plan.faults.push(authorsFault(error, ['triggers', at], 'uses'));
      }
    }
    return plan;
  }
}

/** The source of a trigger that the version in force has with the same component and props. */
const keptSource = (
  name: string,
  trigger: JsonObject,
  { triggers, stored }: KnownVersion,
): StoredVersion['sources'][number] | undefined => {
  const at = triggers.findIndex((each) => ownsSource(each) && each.name === name);
  const former = triggersOf(stored.definition).find(([i]) => i === at)?.[1];
  const isSame = former?.['uses'] === trigger['uses'] && sameJson(propsIn(former), propsIn(trigger));
  return isSame ? stored.sources.find((each) => each.trigger === name) : undefined;
};

const propsIn = (trigger: JsonObject | undefined): JsonObject => objectIn(trigger ?? {}, 'props');
