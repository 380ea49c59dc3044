import { DomainError } from '#libs/kernel/domain-error.js';
import { type ComponentMetadata, type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import {
  type FieldRule,
  METADATA_FIELDS,
  METADATA_LIMITS,
  PROP_FIELDS,
} from '#libs/component-model/metadata-fields.js';

/** `this.__proto__` is the prototype, and `this.$emit` emits. */
const RESERVED_PROPS: readonly string[] = ['__proto__', '$emit'];

/**
 * Makes the texts of metadata well-formed and checks its limits. Metadata comes from a process that ran the component's
 * code, so that process cannot check the limits. Throws component.invalid with the field, its limit and its size.
 */
export const boundedMetadata = (given: ComponentMetadata): ComponentMetadata => {
  const metadata = wellFormed(given) as ComponentMetadata;
  for (const [field, rule] of Object.entries(METADATA_FIELDS))
    checkField(field === 'configurableProps' ? 'props' : field, rule, metadata[field as keyof ComponentMetadata]);
  for (const prop of metadata.configurableProps) checkProp(prop);
  checkSize('the metadata of the component', sizeOf({ ...metadata, warnings: [] }), METADATA_LIMITS.total, 'bytes');
  return metadata;
};

/** Checks the props that additionalProps returned in the same way. */
export const boundedProps = (given: readonly ConfigurableProp[]): readonly ConfigurableProp[] => {
  const props = wellFormed(given) as readonly ConfigurableProp[];
  checkSize('props', props.length, METADATA_LIMITS.props, 'props');
  for (const prop of props) checkProp(prop);
  checkSize('the props of additionalProps', sizeOf(props), METADATA_LIMITS.total, 'bytes');
  return props;
};

const checkProp = (prop: ConfigurableProp): void => {
  checkText('the name of a prop', prop.name, METADATA_LIMITS.propName);
  if (prop.name === '' || RESERVED_PROPS.includes(prop.name)) {
    const why = prop.name === '' ? 'is empty' : 'is reserved';
    throw new DomainError('component.invalid', `prop "${prop.name}": this name ${why}: use another`, {
      prop: prop.name,
      name: 'UserError',
    });
  }
  for (const [field, rule] of Object.entries(PROP_FIELDS))
    if (field !== 'name') checkField(`${field} of prop "${prop.name}"`, rule, prop[field as keyof ConfigurableProp]);
};

const checkField = (field: string, rule: FieldRule, value: unknown): void => {
  if (value === undefined || value === null) return;
  switch (rule.kind) {
    case 'text':
      checkText(field, typeof value === 'string' ? value : JSON.stringify(value), rule.max);
      return;
    case 'json':
    case 'object':
      checkSize(field, sizeOf(value), rule.max, 'bytes');
      return;
    case 'list':
      checkList(field, rule, value as readonly unknown[]);
      return;
    case 'flag':
    case 'number':
    case 'word':
  }
};

const checkList = (field: string, { max, of }: FieldRule & { kind: 'list' }, list: readonly unknown[]): void => {
  checkSize(field, list.length, max, field === 'props' ? 'props' : 'entries');
  if (typeof of !== 'string') list.forEach((each, i) => checkField(`${field}[${i}]`, of, each));
};

const checkText = (field: string, text: string, limit: number): void => {
  checkSize(field, Buffer.byteLength(text), limit, 'bytes');
  const at = text.indexOf('\0');
  if (at === -1) return;
  throw new DomainError('component.invalid', `${field} holds a NUL character at position ${at}: leave it out`, {
    field,
    actual: `NUL at ${at}`,
  });
};

const checkSize = (field: string, actual: number, limit: number, unit: string): void => {
  if (actual <= limit) return;
  throw new DomainError(
    'component.invalid',
    `${field}: ${actual} ${unit}, the limit is ${limit} ${unit}; make it smaller`,
    { field, limit, actual },
  );
};

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Copies a value with well-formed keys and texts. The JSON of a component's process nests at most 256 levels. */
const wellFormed = (value: unknown): unknown => {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key.toWellFormed(), wellFormed(each)]));
};
