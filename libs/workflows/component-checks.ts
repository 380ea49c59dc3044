import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { type ComponentCatalog, type DeployableComponent, type ResolvedComponent } from '#libs/components/published.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { type PropChecks, type PropFault } from '#libs/sources/published.js';
import { type JsonObject } from './domain/check-shape.js';
import { isImport, objectIn, stepsOf, textIn, triggersOf, unresolved } from './domain/definition-rules.js';
import { propsWithExpressions } from './domain/expression-texts.js';
import { type FaultCode, type Findings, type Path } from './domain/findings.js';
import { pinOf, type PropOwner, storedPropsOf, type StoredVersion } from './domain/stored-version.js';
import { namedTriggers } from './domain/triggers.js';
import { readUses } from './domain/uses.js';

interface User {
  readonly path: Path;
  readonly uses: string;
  readonly props: JsonObject;
  readonly kind: DeployableComponent['kind'];
  readonly owner: PropOwner;
}

interface Checked {
  readonly definition: JsonObject;
  readonly workspaceId: string;
  readonly before: StoredVersion | undefined;
}

/** Finds the components that steps and triggers use, and checks the literal values of their props. */
export class ComponentChecks {
  constructor(
    private readonly catalog: ComponentCatalog,
    private readonly props: PropChecks,
  ) {}

  /** @param before the version in force, whose pins and masked secrets are kept */
  async check(
    definition: JsonObject,
    context: CommandContext,
    found: Findings,
    before?: StoredVersion,
  ): Promise<ReadonlyMap<string, ResolvedComponent>> {
    const known = new Map<string, ResolvedComponent | string>();
    for (const user of usersIn(definition)) {
      if (found.isFull) break;
      const pin = definition['refresh'] === true ? undefined : pinOf(before, user.uses);
      const component = known.get(user.uses) ?? (await this.resolve(user.uses, pin, context));
      known.set(user.uses, component);
      const fault = typeof component === 'string' ? component : otherKind(component, user.kind);
      if (typeof component === 'string' || fault !== undefined)
        found.error([...user.path, 'uses'], 'unresolved', unresolved(user.path, user.uses, fault ?? ''));
      else this.checkProps(user, component, { definition, workspaceId: context.workspaceId, before }, found);
    }
    return new Map([...known].flatMap(([uses, one]) => (typeof one === 'string' ? [] : [[uses, one] as const])));
  }

  /** The component, or why there is none. */
  private async resolve(
    text: string,
    pin: string | undefined,
    context: CommandContext,
  ): Promise<ResolvedComponent | string> {
    const uses = readUses(text);
    if (uses.kind === 'file') return 'a source of a workflow is a component, and no file';
    const { kind: _, ...named } = pin === undefined ? uses : ({ kind: 'id', id: pin } as const);
    try {
      return await this.catalog.resolve('id' in named ? { componentId: named.id } : named, context);
    } catch (error) {
      if (error instanceof DomainError && error.code === 'component.not_found')
        return 'there is no such component here';
      throw error;
    }
  }

  private checkProps(
    { path, props, kind, owner }: User,
    component: DeployableComponent,
    { definition, workspaceId, before }: Checked,
    found: Findings,
  ): void {
    const open = kind === 'action' ? propsWithExpressions(props) : new Set<string>();
    const place = [...path, 'props'];
    for (const { name, type } of component.configurableProps)
      if (type === 'app' && open.has(name))
        found.error([...place, name], 'unsupported', 'an account must be given by its id, not by an expression');
    const isLiteral = (name: string): boolean => !open.has(name);
    const declared = component.configurableProps.filter(({ name }) => isLiteral(name));
    const literal = Object.fromEntries(Object.entries(props).filter(([name]) => isLiteral(name)));
    const stored = storedPropsOf(before, owner, literal);
    const { faults, warnings } = this.props.check(declared, literal, workspaceId, stored);
    for (const fault of faults) tellFault(fault, place, isImport(definition), found);
    for (const { code, message, path: where } of warnings) {
      // additionalProps may add the prop. It is not called, because it is code of an author.
      if (code === 'unknown_prop' && component.hasAdditionalProps === true) continue;
      found.warn([...place, ...where.split('.').slice(1)], code, message);
    }
  }
}

const tellFault = ({ prop, kind, message }: PropFault, place: Path, asImport: boolean, found: Findings): void => {
  const path = prop === undefined ? place : [...place, prop];
  if (kind === 'unknown_account' && asImport) found.warn(path, 'account_not_found', message);
  else found.error(path, FAULTS[kind], message);
};

const FAULTS: Readonly<Record<PropFault['kind'], FaultCode>> = {
  missing: 'required',
  type: 'type',
  range: 'range',
  unknown_account: 'unresolved',
};

const otherKind = ({ kind }: DeployableComponent, wanted: User['kind']): string | undefined =>
  kind === wanted
    ? undefined
    : `the component is ${kind === 'source' ? 'a source' : 'an action'}, not of type ${wanted}`;

const usersIn = (definition: JsonObject): readonly User[] => [
  ...namedTriggers(definition).flatMap(([i, trigger, name]) =>
    trigger['type'] === 'source' ? userOf(trigger, ['triggers', i], 'source', { trigger: name }) : [],
  ),
  ...stepsOf(definition).flatMap(([i, step]) =>
    readUses(textIn(step, 'uses') ?? './').kind === 'file'
      ? []
      : userOf(step, ['steps', i], 'action', { step: textIn(step, 'namespace') }),
  ),
];

const userOf = (value: JsonObject, path: Path, kind: User['kind'], owner: PropOwner): readonly User[] => {
  const uses = textIn(value, 'uses');
  return uses === undefined ? [] : [{ path, uses, kind, owner, props: objectIn(value, 'props') }];
};

/** The timer of a trigger, as a prop of a source. */
const TIMER: ConfigurableProp = { name: 'timer', type: '$.interface.timer' };

/** Checks pattern and time zone of timers as those of sources. */
export const checkTimers = (definition: JsonObject, props: PropChecks, workspaceId: string, found: Findings): void => {
  for (const [i, trigger] of triggersOf(definition)) {
    const cron = textIn(trigger, 'cron');
    if (trigger['type'] !== 'timer' || cron === undefined) continue;
    const faultOf = (timer: object): string | undefined =>
      props.check([TIMER], { timer }, workspaceId).faults[0]?.message;
    const wrongCron = faultOf({ cron });
    const timezone = textIn(trigger, 'timezone');
    const wrongZone = timezone === undefined || wrongCron !== undefined ? undefined : faultOf({ cron, timezone });
    if (wrongCron !== undefined) found.error(['triggers', i, 'cron'], 'format', wrongCron);
    if (wrongZone !== undefined) found.error(['triggers', i, 'timezone'], 'format', wrongZone);
  }
};
