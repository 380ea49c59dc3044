import { Inject, Injectable } from '@nestjs/common';
import { type ResolvedComponent } from '#libs/components/published.js';
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
import { type Fault, pathText } from './domain/findings.js';
import { type WantedTriggerSource } from './domain/triggers.js';
import { type StoredVersion } from './domain/stored-version.js';
import { type WorkflowRecord } from './domain/workflow.js';
import { authorsFault, masked, withKnownAccounts } from './plan-props.js';
import { ownsSource } from './published.js';

interface SourcesRequest {
  readonly wanted: readonly WantedTriggerSource[];
  /** In its plain form. */
  readonly definition: JsonObject;
  /** Components that the checks found, by `uses`. */
  readonly components: ReadonlyMap<string, ResolvedComponent>;
  readonly before: { readonly workflow: WorkflowRecord; readonly stored: StoredVersion } | undefined;
  readonly refresh: boolean;
  readonly context: CommandContext;
}

export interface SourcesPlan {
  readonly sources: readonly (OwnedSource | PlannedSource)[];
  /** With masks in the place of the secrets of triggers. */
  readonly definition: JsonObject;
  /** What a version stores of them. */
  readonly stored: StoredVersion['sources'];
  readonly warnings: readonly Warning[];
  readonly faults: readonly Fault[];
}

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
  ) {}

  async plan({ wanted, definition, ...request }: SourcesRequest): Promise<SourcesPlan> {
    const { components, before, refresh, context } = request;
    const triggers = triggersOf(definition).map(([, trigger]) => trigger);
    const sources: SourcesPlan['sources'][number][] = [];
    const stored: StoredVersion['sources'][number][] = [];
    const warnings: Warning[] = [];
    const faults: Fault[] = [];
    for (const { at, uses, props, ...source } of wanted) {
      const component = components.get(uses);
      const trigger = triggers[at];
      if (!component || !trigger) throw new Error(`the component of ${uses} was not looked for`);
      const kept = before && !refresh ? keptSource(source.trigger, trigger, before) : undefined;
      if (kept) {
        sources.push(source);
        stored.push(kept);
        continue;
      }
      const given = isImport(definition) ? withKnownAccounts(component, props, context, this.checks) : props;
      try {
        const planned = await this.owned.plan({ ...source, component, props: given }, context);
        sources.push(planned);
        stored.push({ trigger: source.trigger, uses, definition: planned.definition });
        triggers[at] = masked(trigger, planned.definition);
        const place = pathText(['triggers', at, 'props']);
        for (const each of planned.warnings)
          warnings.push({ ...each, path: each.path.replace('configured_props', place) });
      } catch (error) {
        faults.push(authorsFault(error, ['triggers', at], 'uses'));
      }
    }
    const shown = wanted.length === 0 ? definition : { ...definition, triggers };
    return { sources, stored, definition: shown, warnings, faults };
  }
}

/** The source of a trigger that the version in force has with the same component and props. */
const keptSource = (
  name: string,
  trigger: JsonObject,
  { workflow, stored }: { readonly workflow: WorkflowRecord; readonly stored: StoredVersion },
): StoredVersion['sources'][number] | undefined => {
  const at = (workflow.deployed?.triggers ?? []).findIndex((each) => ownsSource(each) && each.name === name);
  const former = triggersOf(stored.definition).find(([i]) => i === at)?.[1];
  const isSame = former?.['uses'] === trigger['uses'] && sameJson(propsIn(former), propsIn(trigger));
  return isSame ? stored.sources.find((each) => each.trigger === name) : undefined;
};

const propsIn = (trigger: JsonObject | undefined): JsonObject => objectIn(trigger ?? {}, 'props');
