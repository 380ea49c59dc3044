import { type ObjectShape } from './shape.js';

/** Limits of a definition that the operator sets. */
export interface DefinitionLimits {
  readonly workflowMemoryMb: number;
}

/** The shape of a definition, or of changes of one, within the limits of this server. */
export const limitedTo = (shape: ObjectShape, { workflowMemoryMb }: DefinitionLimits): ObjectShape => {
  const { settings } = shape.fields;
  if (settings?.shape.kind !== 'object') return shape;
  const { memory_mb: memory } = settings.shape.fields;
  if (memory?.shape.kind !== 'integer') return shape;
  const limited = { ...memory.shape, max: workflowMemoryMb, maxIs: 'SLUICE_WORKFLOW_MEMORY_MB of the server' };
  const fields = { ...settings.shape.fields, memory_mb: { ...memory, shape: limited } };
  return { ...shape, fields: { ...shape.fields, settings: { ...settings, shape: { ...settings.shape, fields } } } };
};
