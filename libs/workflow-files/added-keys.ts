import { type JsonObject } from '#libs/workflows/domain/check-shape.js';
import { isObject, objectIn, stepsOf, triggersOf } from '#libs/workflows/domain/definition-rules.js';

/** Keys that files of the original have, and those that only say what the workflow is called. */
const TOP = new Set(['schema', 'name', 'description', 'external_id', 'settings', 'triggers', 'steps']);
const SETTINGS = new Set([
  'error_notification',
  'timeout_seconds',
  'memory_mb',
  'concurrency',
  'throttle',
  'queue_size',
  'auto_retry',
  'public_sse',
]);
const TRIGGER = new Set(['id']);
const STEP = new Set(['namespace', 'runtime', 'uses', 'props', 'disabled']);

/** Whether a definition says what files of the original cannot say. */
export const usesAddedKeys = (definition: JsonObject): boolean => {
  const settings = objectIn(definition, 'settings');
  return (
    hasOthers(definition, TOP) ||
    hasOthers(settings, SETTINGS) ||
    isObject(settings['auto_retry']) ||
    triggersOf(definition).some(([, trigger]) => hasOthers(trigger, TRIGGER)) ||
    stepsOf(definition).some(([, step]) => hasOthers(step, STEP))
  );
};

const hasOthers = (value: JsonObject, known: ReadonlySet<string>): boolean =>
  Object.keys(value).some((key) => !known.has(key));
