/** Hooks that a component may have, in the order in which they run. */
export type HookName = 'deploy' | 'activate' | 'deactivate';
