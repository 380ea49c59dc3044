/** Keys of a prop definition, by the kind of their value (docs/reference/component-model.md#prop-entry). */
export const TEXTS = ['label', 'description', 'appProp', 'alertType', 'content', 'accessMode'] as const;
export const FLAGS = [
  'optional',
  'secret',
  'disabled',
  'hidden',
  'readOnly',
  'useQuery',
  'reloadProps',
  'withLabel',
  'customResponse',
  'remote',
  'sync',
] as const;
export const NUMBERS = ['min', 'max'] as const;
