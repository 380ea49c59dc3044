/** Hooks that a component may have, in the order in which they run. */
export type HookName = 'deploy' | 'activate' | 'deactivate';

/** Emits the event that the component exports as `sampleEmit` (docs/reference/component-model.md#sample-emit). */
export const SAMPLE_EMIT = 'sample_emit';

/** Calls of a source's process besides its runs. */
export type ProcessCall = HookName | typeof SAMPLE_EMIT;

/** Code of the error of a component that exports no sample event. */
export const NO_SAMPLE_EMIT = 'NoSampleEmit';
