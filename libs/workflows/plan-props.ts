import { type ResolvedComponent } from '#libs/components/published.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { type PropChecks, SECRET_MASK, type SourceDefinition } from '#libs/sources/published.js';
import { type JsonObject } from './domain/check-shape.js';
import { objectIn } from './domain/definition-rules.js';
import { type Warning } from '#libs/kernel/warning.js';
import { type Fault, type Path, pathText } from './domain/findings.js';

/** Refusals of what an author wrote. */
const FAULTS = /^(?:component\.|source\.(?:invalid|missing)_prop$|request\.invalid_parameter$)/;

/** What is wrong with a step or trigger at this path, whose component is under `code`. Throws any other error. */
export const authorsFault = (error: unknown, path: Path, code: 'code' | 'uses'): Fault => {
  if (!(error instanceof DomainError) || !FAULTS.test(error.code)) throw error;
  const { message, details = {} } = error;
  const prop = details['prop'];
  if (typeof prop === 'string') {
    const isMissing = error.code === 'source.missing_prop';
    return { path: [...path, 'props', prop], code: isMissing ? 'required' : 'type', message };
  }
  if (!error.code.startsWith('component.') || error.code === 'component.additional_props_failed')
    return { path: [...path, 'props'], code: 'type', message };
  return { path: [...path, code], code: 'syntax', message };
};

/** Messages about props whose accounts are not here, by prop. */
export const unknownAccounts = (
  { configurableProps }: ResolvedComponent,
  props: JsonObject,
  { workspaceId }: CommandContext,
  checks: PropChecks,
): ReadonlyMap<string, string> => {
  const apps = configurableProps.filter(({ name, type }) => type === 'app' && Object.hasOwn(props, name));
  const { faults } = checks.check(apps, props, workspaceId);
  return new Map(
    faults.flatMap(({ kind, prop, message }) =>
      kind === 'unknown_account' && prop !== undefined ? [[prop, message] as const] : [],
    ),
  );
};

/** Props without these. An import leaves unknown accounts out (docs/reference/workflows.md#import-rule). */
export const propsWithout = (props: JsonObject, unknown: ReadonlyMap<string, string>): JsonObject =>
  unknown.size === 0 ? props : Object.fromEntries(Object.entries(props).filter(([name]) => !unknown.has(name)));

/** Warnings of a plan at their places, where an account that is not here is told as such and not as missing. */
export const planWarnings = (
  warnings: readonly Warning[],
  unknown: ReadonlyMap<string, string>,
  path: Path,
): readonly Warning[] => {
  const place = pathText([...path, 'props']);
  const placed = warnings.map((each) => ({ ...each, path: each.path.replace('configured_props', place) }));
  const left = [...unknown].map(([prop, message]) => ({
    code: 'account_not_found',
    message,
    path: pathText([...path, 'props', prop]),
  }));
  const told = new Set(left.map((each) => each.path));
  return [...left, ...placed.filter(({ code, path: at }) => code !== 'no_account' || !told.has(at))];
};

/** The step or trigger with masks in the place of its secrets. */
export const masked = (user: JsonObject, { props }: SourceDefinition): JsonObject => {
  const given = objectIn(user, 'props');
  const shown = Object.fromEntries(
    props.flatMap((planned) => {
      if (!Object.hasOwn(given, planned.prop)) return [];
      if (planned.kind === 'secret') return [[planned.prop, SECRET_MASK]];
      return planned.kind === 'request' ? [[planned.prop, planned.value]] : [];
    }),
  );
  return Object.keys(shown).length === 0 ? user : { ...user, props: { ...given, ...shown } };
};
