import { isRecord } from './words.js';

/** Definition of a prop or app, which may come as the namespace of its module (docs/reference/component-model.md#prop-definition). */
export const definitionIn = (value: unknown): Record<string, unknown> | undefined => {
  if (!isRecord(value)) return undefined;
  return value.type === undefined && value.propDefinitions === undefined && isRecord(value.default)
    ? value.default
    : value;
};
