import { type JsonObject } from '#libs/workflows/domain/check-shape.js';
import { isObject, objectIn, textIn, triggersOf } from '#libs/workflows/domain/definition-rules.js';
import { DEFINITION } from '#libs/workflows/domain/definition-shape.js';
import { plainDefinition } from '#libs/workflows/domain/plain-definition.js';
import { yamlOf } from '#libs/workflows/domain/yaml-of.js';
import { type WorkflowInFolder } from './read-workflows.js';

/** What a server shows of a workflow and a comparison needs. */
export interface WorkflowOnServer {
  readonly id: string;
  readonly active: boolean;
  /** As `GET` shows it: without what is at its default, with masks in place of secrets. */
  readonly definition: JsonObject;
}

/** What a server shows in place of a secret. Sent back, it keeps the secret. */
export const MASK = '********';

/**
 * A workflow as it would be after a PUT, and as it is, as YAML in one form. A secret that the server shows as a mask is a
 * mask in both, so a change of a secret alone is no difference. The second is empty when the server has no such workflow.
 * @param isSource whether the server has the source with this id, `dc_…`
 */
export const comparable = (
  { definition, externalId }: Pick<WorkflowInFolder, 'definition' | 'externalId'>,
  there: WorkflowOnServer | undefined,
  isSource: (id: string) => boolean = () => true,
): { readonly here: string; readonly there: string } => {
  const kept = there?.definition ?? { external_id: externalId };
  const here: JsonObject = {
    ...textsOf(kept, ['name', 'external_id']),
    ...(kept['name'] === undefined ? { name: externalId } : {}),
    ...textsOf(definition, ['name', 'description', 'external_id']),
    ...plainDefinition(definition, (id) => id.startsWith('dc_') && isSource(id)),
  };
  const { active } = objectIn(definition, 'settings');
  const showsActive = typeof active === 'boolean' && active !== (there?.active ?? true);
  const withActive = (each: JsonObject, value: unknown): JsonObject =>
    showsActive ? { ...each, settings: { active: value, ...objectIn(each, 'settings') } } : each;
  return {
    here: textOf(withActive(masked(withoutTokens(here), there?.definition) as JsonObject, active)),
    there: there === undefined ? '' : textOf(withActive(there.definition, there.active)),
  };
};

const textsOf = (definition: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(
    keys.flatMap((key) => (typeof definition[key] === 'string' ? [[key, definition[key]] as const] : [])),
  );

/** A server shows no token, so none is printed either. The name of a variable is no secret. */
const withoutTokens = (definition: JsonObject): JsonObject => {
  const triggers = triggersOf(definition).map(([, trigger]) => {
    const token = textIn(objectIn(trigger, 'auth'), 'token');
    if (token === undefined || token.startsWith('{{')) return trigger;
    return { ...trigger, auth: { ...objectIn(trigger, 'auth'), token: MASK } };
  });
  return triggers.length === 0 ? definition : { ...definition, triggers };
};

/** Replaces each value by the mask that stands at its place in the other. */
const masked = (value: unknown, other: unknown): unknown => {
  if (other === MASK && typeof value === 'string') return MASK;
  if (Array.isArray(value))
    return value.map((each: unknown, i) => masked(each, Array.isArray(other) ? (other as unknown[])[i] : undefined));
  if (!isObject(value)) return value;
  const beside = isObject(other) ? other : {};
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      masked(each, Object.hasOwn(beside, key) ? beside[key] : undefined),
    ]),
  );
};

/** Objects whose keys the author names. Their order means nothing, and a server keeps the former one. */
const NAMED_BY_AUTHOR: ReadonlySet<string> = new Set(['props', 'files', 'filter', 'headers', 'input']);

const textOf = (definition: JsonObject): string =>
  yamlOf(
    Object.fromEntries(
      Object.keys(DEFINITION.fields).flatMap((key) =>
        // A change of the schema alone changes no workflow.
        definition[key] === undefined || key === 'schema'
          ? []
          : [[key, sorted(definition[key], NAMED_BY_AUTHOR.has(key))]],
      ),
    ),
  );

const sorted = (value: unknown, isByAuthor: boolean): unknown => {
  if (Array.isArray(value)) return value.map((each: unknown) => sorted(each, isByAuthor));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, each]): [string, unknown] => [
    key,
    sorted(each, isByAuthor || NAMED_BY_AUTHOR.has(key)),
  ]);
  return Object.fromEntries(isByAuthor ? entries.sort(([a], [b]) => (a < b ? -1 : 1)) : entries);
};
