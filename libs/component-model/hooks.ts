/** A hook that a component may have, in the order in which they are run. */
export type HookName = 'deploy' | 'activate' | 'deactivate';
