import { type JsonObject } from './check-shape.js';
import { isObject, objectIn } from './definition-rules.js';
import { DEFINITION, DEFINITION_AND_BESIDE } from './definition-shape.js';
import { plainDefinition } from './plain-definition.js';
import { type Field, object, type ObjectShape } from './shape.js';

const { settings } = DEFINITION.fields;
const { steps: _steps, triggers: _triggers, files: _files, schema: _schema, ...others } = DEFINITION_AND_BESIDE.fields;

const nullable = (fields: ObjectShape['fields']): ObjectShape['fields'] =>
  Object.fromEntries(
    Object.entries(fields).map(([key, field]): [string, Field] => [key, { ...field, nullable: true }]),
  );

/** A change of a workflow without a definition. A setting of null goes back to its default. */
export const CHANGES: ObjectShape = object({
  ...others,
  ...(settings?.shape.kind === 'object'
    ? { settings: { ...settings, shape: object(nullable(settings.shape.fields)) } }
    : {}),
});

/** The plain definition with the given settings changed. Undefined when none is given but `active`. */
export const changedSettings = (definition: JsonObject, given: unknown): JsonObject | undefined => {
  if (!isObject(given) || Object.keys(given).every((key) => key === 'active')) return undefined;
  const merged = { ...objectIn(definition, 'settings'), ...given };
  return plainDefinition({ ...definition, settings: merged }, () => true);
};
