/** Published contract of the variables context. Values are in the vault; an event holds only their reference. */

export interface VariableSet {
  readonly type: 'VariableSet';
  readonly data: {
    readonly name: string;
    readonly valueRef: string;
    /** Reference to the value until then; null for a variable that did not exist. */
    readonly replacedRef: string | null;
    readonly setAt: number;
  };
}
export interface VariableDeleted {
  readonly type: 'VariableDeleted';
  readonly data: { readonly name: string; readonly replacedRef: string; readonly deletedAt: number };
}
export type VariableEvent = VariableSet | VariableDeleted;
