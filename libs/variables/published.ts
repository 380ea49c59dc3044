/** Published contract of the variables context. Values are in the vault; an event holds only their reference. */
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { type TokenHash } from '#libs/kernel/token-hash.js';

export interface VariableSet {
  readonly type: 'VariableSet';
  readonly data: {
    readonly name: string;
    readonly valueRef: string;
    /** Reference to the value until then; null for a variable that did not exist. */
    readonly replacedRef: string | null;
    /** Present once a hash is kept of the variable, unless the value cannot be a token. */
    readonly hash?: TokenHash;
    readonly setAt: number;
  };
}
export interface VariableDeleted {
  readonly type: 'VariableDeleted';
  readonly data: { readonly name: string; readonly replacedRef: string; readonly deletedAt: number };
}
/** From now on a hash of the value is kept, of this one and of all that follow. Also for a variable that does not exist. */
export interface VariableHashed {
  readonly type: 'VariableHashed';
  readonly data: {
    readonly name: string;
    /** Null: there is no value, or it cannot be a token. */
    readonly hash: TokenHash | null;
    readonly hashedAt: number;
  };
}
export type VariableEvent = VariableSet | VariableDeleted | VariableHashed;

/** Variables whose values callers send as tokens, to processes that have no vault. */
export interface TokenVariables {
  /** Resolves once the hash of the value is kept, and that of every later value will be. Idempotent. */
  keepHash(name: string, context: CommandContext): Promise<void>;
}
/** Token under which VariablesModule provides its TokenVariables. */
export const TOKEN_VARIABLES = Symbol('TokenVariables');
