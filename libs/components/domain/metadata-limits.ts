import { DomainError } from '#libs/kernel/domain-error.js';
import { type ComponentMetadata, type ConfigurableProp } from '../../component-model/component-metadata.js';

/** Limits in UTF-8 bytes of text or JSON. Metadata is kept in the event log and shown in every list. */
export const METADATA_LIMITS = {
  /** Name, key and version each, and the annotations as JSON. */
  text: 1_024,
  description: 16 * 1_024,
  props: 1_000,
  propName: 256,
  /** Each text of a prop, except description and content, which have the limit of a description. */
  propText: 1_024,
  /** All metadata as JSON. */
  total: 512 * 1_024,
} as const;

/** `this.__proto__` is the prototype, and `this.$emit` emits. */
const RESERVED_PROPS: readonly string[] = ['__proto__', '$emit'];

const LONG_TEXTS: readonly string[] = ['description', 'content'];

/**
 * Makes the texts of metadata well-formed and checks its limits. Metadata comes from a process that ran the component's
 * code, so that process cannot check the limits. Throws component.invalid with the field, its limit and its size.
 */
export const boundedMetadata = (given: ComponentMetadata): ComponentMetadata => {
  const metadata = wellFormed(given) as ComponentMetadata;
  const { name, key, version, description, annotations, configurableProps } = metadata;
  checkText('name', name, METADATA_LIMITS.text);
  checkText('key', key ?? '', METADATA_LIMITS.text);
  checkText('version', version, METADATA_LIMITS.text);
  checkText('description', description ?? '', METADATA_LIMITS.description);
  if (annotations !== null) checkSize('annotations', sizeOf(annotations), METADATA_LIMITS.text, 'bytes');
  checkSize('props', configurableProps.length, METADATA_LIMITS.props, 'props');
  for (const prop of configurableProps) checkProp(prop);
  checkSize('the metadata of the component', sizeOf({ ...metadata, warnings: [] }), METADATA_LIMITS.total, 'bytes');
  return metadata;
};

/** The same for the props that additionalProps returned. */
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
  for (const [field, value] of Object.entries(prop)) {
    if (typeof value !== 'string' || field === 'default' || field === 'static') continue;
    const limit = LONG_TEXTS.includes(field) ? METADATA_LIMITS.description : METADATA_LIMITS.propText;
    checkText(`${field} of prop "${prop.name}"`, value, limit);
  }
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
