import { type JsonObject } from './check-shape.js';
import { isObject, textIn } from './definition-rules.js';
import { DEFINITION } from './definition-shape.js';
import { type ObjectShape, type Shape } from './shape.js';

/**
 * The form in which a definition is stored, compared and shown: known keys in the order of their description, without
 * those at their default. Name, description, external id and `active` are no part of a version, so they are left out.
 * `steps` stays without any step, because a change that holds it replaces the definition.
 * @param definition one without errors
 * @param isSource whether a source with this id exists in the workspace
 */
export const plainDefinition = (definition: JsonObject, isSource: (id: string) => boolean): JsonObject => {
  const typed = { ...definition, triggers: typedTriggers(definition['triggers'], isSource) };
  const { name: _name, description: _text, external_id: _id, settings, ...rest } = plainObject(DEFINITION, typed);
  const { active: _active, ...kept } = isObject(settings) ? settings : {};
  const whole = { ...(Object.keys(kept).length === 0 ? {} : { settings: kept }), steps: [], ...rest };
  return Object.fromEntries(
    Object.keys(DEFINITION.fields).flatMap((key) => {
      const value = (whole as JsonObject)[key];
      return value === undefined || (key !== 'steps' && isEmpty(value)) ? [] : [[key, value]];
    }),
  );
};

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

/** Follows the import rule (docs/reference/workflows.md#import-rule). */
const typedTriggers = (triggers: unknown, isSource: (id: string) => boolean): unknown =>
  Array.isArray(triggers)
    ? triggers.flatMap((trigger: unknown) => {
        if (!isObject(trigger) || Object.hasOwn(trigger, 'type')) return [trigger];
        const id = textIn(trigger, 'id') ?? '';
        if (isSource(id)) return [{ type: 'source', ...trigger }];
        return id.startsWith('hi_') ? [{ type: 'http', name: id.replace(/[^A-Za-z0-9_]/g, '_').slice(0, 64) }] : [];
      })
    : undefined;

const plainObject = ({ fields }: ObjectShape, value: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([key, { shape, default: otherwise, required }]) => {
      const given = Object.hasOwn(value, key) ? value[key] : undefined;
      if (given === undefined || given === null || (given === otherwise && required !== true)) return [];
      const isNothing = isEmpty(given) && (shape.kind === 'map' || shape.kind === 'list');
      return isNothing ? [] : [[key, plain(shape, given)]];
    }),
  );

const plain = (shape: Shape, value: unknown): unknown => {
  switch (shape.kind) {
    case 'object':
      return isObject(value) ? plainObject(shape, value) : value;
    case 'list':
      return Array.isArray(value) ? value.map((each: unknown) => plain(shape.of, each)) : value;
    case 'either': {
      const fitting = isObject(value) ? shape.of.find(({ kind }) => kind === 'object') : undefined;
      return fitting ? plain(fitting, value) : value;
    }
    case 'tagged': {
      const chosen = isObject(value) ? shape.of[textIn(value, 'type') ?? ''] : undefined;
      return typeof chosen === 'object' && isObject(value) ? plainObject(chosen, value) : value;
    }
    case 'text':
    case 'integer':
    case 'flag':
    case 'choice':
    case 'map':
      return value;
  }
};
