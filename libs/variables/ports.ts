/** The variables of every workspace, without their values. */
export const VARIABLES = Symbol('Variables');
