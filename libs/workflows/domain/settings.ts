import { type WorkflowSettings } from '../published.js';
import { type JsonObject } from './check-shape.js';
import { isObject, objectIn } from './definition-rules.js';

/** The settings of a plain definition, with defaults. Their values are checked. */
export const settingsOf = (definition: JsonObject): WorkflowSettings => {
  const given = objectIn(definition, 'settings');
  const { auto_retry: retry, data_retention: retention } = given;
  return {
    errorNotification: given['error_notification'] !== false,
    timeoutSeconds: numberIn(given, 'timeout_seconds') ?? null,
    memoryMb: numberIn(given, 'memory_mb') ?? 256,
    concurrency: numberIn(given, 'concurrency') ?? null,
    holdSlot: given['hold_slot'] === true,
    throttle: isObject(given['throttle']) ? (given['throttle'] as WorkflowSettings['throttle']) : null,
    queueSize: numberIn(given, 'queue_size') ?? 100,
    autoRetry: retry === true || isObject(retry) ? autoRetryOf(isObject(retry) ? retry : {}) : null,
    dataRetention:
      retention === 'none'
        ? 'none'
        : isObject(retention)
          ? { runs: numberIn(retention, 'runs') ?? null, days: numberIn(retention, 'days') ?? null }
          : null,
    publicSse: given['public_sse'] === true,
  };
};

const autoRetryOf = (given: JsonObject): NonNullable<WorkflowSettings['autoRetry']> => ({
  notifyFirstError: given['notify_first_error'] === true,
  alsoOn: textsIn(given, 'also_on'),
});

export const numberIn = (value: JsonObject, key: string): number | undefined => {
  const given = value[key];
  return typeof given === 'number' ? given : undefined;
};

export const textsIn = (value: JsonObject, key: string): readonly string[] => {
  const given = value[key];
  return Array.isArray(given) ? given.filter((each) => typeof each === 'string') : [];
};
