import { Inject, Injectable } from '@nestjs/common';
import { BoundedTurns } from '#libs/async/bounded-turns.js';
import { COMPONENT_CATALOG, type ComponentCatalog, type ResolvedComponent } from '#libs/components/published.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { RESOURCE_LIMITS } from '#libs/kernel/resource-limits.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { type Warning } from '#libs/kernel/warning.js';
import { PROP_CHECKS, type PropChecks } from '#libs/sources/published.js';
import { checkShape, type JsonObject } from './domain/check-shape.js';
import { checkRules, isObject, textIn, triggersOf } from './domain/definition-rules.js';
import { DEFINITION_AND_BESIDE, MAX_LEVELS } from './domain/definition-shape.js';
import { checkSize, nestsTooDeep, tooLarge } from './domain/definition-size.js';
import { expressionTexts } from './domain/expression-texts.js';
import { type Fault, type FaultCode, Findings, MAX_FINDINGS, pathText } from './domain/findings.js';
import { limitedTo } from './domain/definition-limits.js';
import { type ObjectShape } from './domain/shape.js';
import { type WorkflowLimits } from './limits.js';
import { DEFINITION_READER, type DefinitionReader, TRIGGER_REFERENCES, type TriggerReferences } from './ports.js';
import { pinOf, type StoredVersion } from './domain/stored-version.js';
import { checkTimers, ComponentChecks } from './component-checks.js';

export type GivenDefinition = { readonly yaml: string } | { readonly json: JsonObject };

/** A definition without errors. */
export interface CheckedDefinition {
  readonly definition: JsonObject;
  readonly warnings: readonly Warning[];
  /** Components by the `uses` that names them. */
  readonly components: ReadonlyMap<string, ResolvedComponent>;
  /** Whether what its deployment warns of is an error. */
  readonly strict: boolean;
}

export interface CheckOptions {
  /** Makes warnings errors, also unless the definition says so itself. */
  readonly strict: boolean;
  readonly context: CommandContext;
  /** The version in force, whose pins and masked secrets are kept. */
  readonly before?: StoredVersion | undefined;
}

const MB = 1024 * 1024;
const TURNS = { atOnce: 4, waiting: 20, waitingInAll: 200, waitingBytes: 32 * MB, waitingBytesInAll: 128 * MB };

/** Reads and checks definitions, and changes nothing. */
@Injectable()
export class DefinitionChecks {
  private readonly components: ComponentChecks;
  /** The jailed process reads one text at a time, so workspaces take turns. */
  private readonly turns = new BoundedTurns(TURNS, ({ scope, limit }) => {
    const inAll = scope === 'process';
    const text = `definitions ${inAll ? 'on this server' : 'of this workspace'} that wait to be checked are at the limit of ${limit}: try again later`;
    return new DomainError(inAll ? 'workflow.definitions_overloaded' : 'workflow.too_many_definitions', text, {
      limit,
    });
  });

  constructor(
    @Inject(COMPONENT_CATALOG) catalog: ComponentCatalog,
    @Inject(PROP_CHECKS) private readonly props: PropChecks,
    @Inject(DEFINITION_READER) private readonly reader: DefinitionReader,
    @Inject(TRIGGER_REFERENCES) private readonly references: TriggerReferences,
    @Inject(RESOURCE_LIMITS) private readonly limits: WorkflowLimits,
  ) {
    this.components = new ComponentChecks(catalog, props);
  }

  /** Throws workflow.invalid_definition for a text that is no YAML, or workflow.too_large. */
  async read(given: GivenDefinition, workspaceId: string): Promise<JsonObject> {
    return 'json' in given ? given.json : this.inTurn(given, workspaceId, () => this.readYaml(given.yaml));
  }

  /**
   * Throws workflow.invalid_definition with all errors, workflow.too_large, workflow.too_many_definitions or
   * workflow.definitions_overloaded.
   */
  check(given: GivenDefinition, definition: JsonObject, options: CheckOptions): Promise<CheckedDefinition> {
    const { strict, context, before } = options;
    return this.inTurn(given, context.workspaceId, async () => {
      const isStrict = strict || definition['strict'] === true;
      const found = new Findings(isStrict);
      const components = await this.checkAll(definition, context, found, before);
      if (found.errors.length > 0) throw await this.invalid(given, found.errors);
      return { definition, warnings: found.warnings, components, strict: isStrict };
    });
  }

  /** Checks a body that is no whole definition. Resolves with the warnings. Throws workflow.invalid_definition. */
  async checkAs(
    shape: ObjectShape,
    given: GivenDefinition,
    body: JsonObject,
    strict: boolean,
  ): Promise<readonly Warning[]> {
    checkSize(body);
    const found = new Findings(strict || body['strict'] === true);
    if (nestsTooDeep(body)) found.error([], 'range', `the body nests deeper than ${MAX_LEVELS} levels`);
    else checkShape(limitedTo(shape, this.limits), body, [], found);
    if (found.errors.length > 0) throw await this.invalid(given, found.errors);
    return found.warnings;
  }

  /** What is wrong with the emitters of triggers. A source by its id that is not here is left to the rules. */
  emitterFaults(definition: JsonObject, context: CommandContext): readonly (Fault & { readonly code: FaultCode })[] {
    return triggersOf(definition).flatMap(([i, trigger]) => {
      const { type, filter } = trigger;
      const emitterId = textIn(trigger, type === 'event' ? 'emitter' : 'id');
      if (emitterId === undefined || (type !== 'event' && !this.references.isSource(emitterId, context.workspaceId)))
        return [];
      const emission = { emitterId, eventName: textIn(trigger, 'event_name') ?? '', filter };
      return this.references.emissionFaults(emission, context).map(({ message, details }) => {
        const field = details?.['field'];
        if (field === 'emitter_id') return { path: ['triggers', i, 'emitter'], code: 'unresolved' as const, message };
        return { path: ['triggers', i, field === 'event_name' ? field : 'filter'], code: 'format' as const, message };
      });
    });
  }

  /** What the triggers of a former version need and is gone. */
  goneEmitters(definition: JsonObject, context: CommandContext): readonly Fault[] {
    const gone = triggersOf(definition).flatMap(([i, trigger]): readonly Fault[] => {
      const id = textIn(trigger, 'id');
      if (trigger['type'] !== 'source' || id === undefined || this.references.isSource(id, context.workspaceId))
        return [];
      return [{ path: ['triggers', i, 'id'], code: 'unresolved', message: `there is no source ${id} any more` }];
    });
    return [...gone, ...this.emitterFaults(definition, context)];
  }

  /** The error for the first of these faults, with their lines in YAML. */
  async invalid(given: GivenDefinition, all: readonly Fault[]): Promise<DomainError> {
    const faults = all.slice(0, MAX_FINDINGS);
    const paths = faults.map(({ path }) => path);
    const places = 'yaml' in given ? await this.reader.locate(given.yaml, paths) : [];
    return invalid(
      faults.map(({ path, code, message }, i) => {
        const [line, column] = places[i] ?? [];
        return { path: pathText(path), code, message, ...(line === undefined ? {} : { line, column }) };
      }),
    );
  }

  private inTurn<T>(given: GivenDefinition, workspaceId: string, act: () => Promise<T>): Promise<T> {
    return this.turns.run({ workspaceId }, 'yaml' in given ? given.yaml.length : 0, act);
  }

  private async readYaml(yaml: string): Promise<JsonObject> {
    const read = await this.reader.readYaml(yaml);
    switch (read.kind) {
      case 'faults':
        throw invalid(read.faults.map(([code, message, line, column]) => ({ path: '', code, message, line, column })));
      case 'too_large':
        throw tooLarge();
      case 'spoilt':
        throw invalid([{ path: '', code: 'range', message: read.reason }]);
      case 'value': {
        const value: unknown = JSON.parse(read.json);
        if (isObject(value)) return value;
        throw invalid([{ path: '', code: 'type', message: 'the definition must be an object', line: 1, column: 1 }]);
      }
    }
  }

  private async checkAll(
    definition: JsonObject,
    context: CommandContext,
    found: Findings,
    before: StoredVersion | undefined,
  ): Promise<CheckedDefinition['components']> {
    checkSize(definition);
    if (nestsTooDeep(definition)) {
      found.error([], 'range', `the definition nests deeper than ${MAX_LEVELS} levels`);
      return new Map();
    }
    const { workspaceId } = context;
    checkShape(limitedTo(DEFINITION_AND_BESIDE, this.limits), definition, [], found);
    const isSource = (id: string): boolean => this.references.isSource(id, workspaceId);
    const isVariable = (name: string): boolean => this.references.isVariable(name, workspaceId);
    const isPinned = (uses: string): boolean => pinOf(before, uses) !== undefined;
    checkRules(definition, { isSource, isVariable, isPinned }, found);
    checkTimers(definition, this.props, workspaceId, found);
    for (const { path, code, message } of this.emitterFaults(definition, context)) found.error(path, code, message);
    const components = await this.components.check(definition, context, found, before);
    await this.checkExpressions(definition, found);
    return components;
  }

  private async checkExpressions(definition: JsonObject, found: Findings): Promise<void> {
    const texts = expressionTexts(definition).filter(({ path }) => !found.hasErrorAt(path));
    if (texts.length === 0) return;
    const faults = await this.reader.parse(texts.map(({ form, text }) => [form, text]));
    for (const [index, message, at] of faults) {
      const path = texts[index]?.path ?? [];
      found.error(path, 'expression', `this is no JavaScript expression: ${message} at character ${at + 1}`);
    }
  }
}

interface ToldFault {
  readonly path: string;
  readonly code: string;
  readonly message: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

const invalid = (errors: readonly ToldFault[]): DomainError => {
  const [first] = errors;
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `;
  const more = errors.length > 1 ? `, and ${errors.length - 1} more` : '';
  return new DomainError(
    'workflow.invalid_definition',
    `the definition has errors: ${where}${first?.message ?? ''}${more} (details.errors lists them)`,
    { errors },
  );
};
