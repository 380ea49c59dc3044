import { getMetadataStorage } from 'class-validator';
import { meaningsOf } from './meaning.js';
import { limited } from './parameter-limits.js';

export interface JsonSchema {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  format?: string;
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  maxItems?: number;
  maxProperties?: number;
  propertyNames?: JsonSchema;
  anyOf?: JsonSchema[];
  $ref?: string;
  /** Set for a credential, which only the reply itself holds (docs/reference/rest-api.md#secrets-in-replies). */
  'x-secret'?: true;
}

/**
 * Builds the JSON Schema of a class from its class-validator decorators, as far as JSON Schema can express them. Every text,
 * list and object has a limit.
 */
export const schemaOf = (dto: abstract new (...args: never[]) => object): JsonSchema => {
  const properties: Record<string, JsonSchema> = {};
  const optional = new Set<string>();
  for (const rule of getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false)) {
    const property = (properties[rule.propertyName] ??= {});
    if (rule.type === 'conditionalValidation') optional.add(rule.propertyName);
    const constraints = (rule.constraints ?? []) as unknown[];
    apply(rule.each ? (property.items ??= {}) : property, rule.name ?? rule.type, constraints);
    if (rule.each) property.type = 'array';
  }
  for (const [name, description] of Object.entries(meaningsOf(dto))) {
    const property = properties[name];
    if (property) property.description = description;
  }
  for (const [name, property] of Object.entries(properties)) properties[name] = limited(name, property);
  const required = Object.keys(properties).filter((name) => !optional.has(name));
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }) };
};

const apply = (schema: JsonSchema, rule: string, [constraint, second]: readonly unknown[]): void => {
  const number = typeof constraint === 'number' ? constraint : undefined;
  switch (rule) {
    case 'isString':
      schema.type = 'string';
      return;
    case 'isInt':
      schema.type = 'integer';
      return;
    case 'isNumber':
      schema.type = 'number';
      return;
    case 'isBoolean':
      schema.type = 'boolean';
      return;
    case 'isObject':
      schema.type = 'object';
      schema.additionalProperties = true;
      return;
    case 'isArray':
      schema.type = 'array';
      schema.items ??= {};
      return;
    case 'isIn':
      if (Array.isArray(constraint)) schema.enum = constraint as unknown[];
      return;
    case 'arrayMaxSize':
      if (number !== undefined) schema.maxItems = number;
      return;
    case 'isUrl':
      schema.format = 'uri';
      return;
    case 'min':
      if (number !== undefined) schema.minimum = number;
      return;
    case 'max':
      if (number !== undefined) schema.maximum = number;
      return;
    case 'minLength':
      if (number !== undefined) schema.minLength = number;
      return;
    case 'maxLength':
      if (number !== undefined) schema.maxLength = number;
      return;
    case 'isLength':
      if (number !== undefined) schema.minLength = number;
      if (typeof second === 'number') schema.maxLength = second;
      return;
    default: // JSON Schema cannot express this rule.
  }
};
