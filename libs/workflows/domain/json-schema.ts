import { type Field, type ObjectShape, type Shape } from './shape.js';
import { DEFINITION } from './definition-shape.js';
import { type DefinitionLimits, limitedTo } from './definition-limits.js';

type JsonSchema = Readonly<Record<string, unknown>>;

/** JSON Schema of a shape. Unknown keys are allowed, because validation only warns about them. */
const schemaOf = (shape: Shape): JsonSchema => {
  switch (shape.kind) {
    case 'text':
      return {
        type: 'string',
        maxLength: shape.max,
        ...(shape.min === undefined ? {} : { minLength: shape.min }),
        ...(shape.pattern === undefined ? {} : { pattern: shape.pattern.source }),
        ...(shape.not === undefined ? {} : { not: { enum: shape.not } }),
      };
    case 'integer':
      return { type: 'integer', minimum: shape.min, maximum: shape.max };
    case 'flag':
      return { type: 'boolean' };
    case 'choice':
      return { type: 'string', enum: shape.of };
    case 'list':
      return { type: 'array', maxItems: shape.max, items: schemaOf(shape.of) };
    case 'map':
      return {
        type: 'object',
        maxProperties: shape.maxKeys,
        propertyNames: { maxLength: shape.maxKey },
        ...(shape.of === undefined ? {} : { additionalProperties: schemaOf(shape.of) }),
      };
    case 'object':
      return objectSchema(shape);
    case 'either':
      return { anyOf: shape.of.map(schemaOf) };
    case 'tagged': {
      const variants = Object.values(shape.of).flatMap((each) =>
        typeof each === 'string' ? [] : [objectSchema(each, ['type'])],
      );
      const untyped = shape.untyped === undefined ? [] : [{ ...objectSchema(shape.untyped, ['id']), not: TYPED }];
      return { anyOf: [...variants, ...untyped] };
    }
  }
};

const TYPED = { required: ['type'] };

const objectSchema = ({ fields }: ObjectShape, needed: readonly string[] = []): JsonSchema => {
  const supported = Object.entries(fields).filter(([, { unsupported }]) => unsupported === undefined);
  const required = [...needed, ...supported.flatMap(([key, field]) => (field.required ? [key] : []))];
  return {
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(supported.map(([key, field]) => [key, fieldSchema(field)])),
  };
};

const fieldSchema = ({ shape, about, nullable, default: preset }: Field): JsonSchema => {
  const schema = schemaOf(shape);
  return {
    ...(nullable ? { anyOf: [schema, { type: 'null' }] } : schema),
    description: about,
    ...(preset === undefined ? {} : { default: preset }),
  };
};

/** What `GET /v1/workflows/schema.json` answers. Editors check a definition by it. */
export const definitionSchema = (limits: DefinitionLimits): JsonSchema => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Definition of a Sluice workflow',
  ...schemaOf(limitedTo(DEFINITION, limits)),
});
