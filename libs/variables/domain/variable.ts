import { type Decider } from '#libs/kernel/decider.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type IdPrefix, derivedId, shownId } from '#libs/kernel/ids.js';
import { type TokenHash } from '#libs/kernel/token-hash.js';
import { type VariableEvent } from '../published.js';

export type VariableCommand =
  | {
      readonly type: 'set';
      readonly name: string;
      readonly valueRef: string;
      /** Hash of the value. Null for one that cannot be a token. */
      readonly hash: TokenHash | null;
      readonly now: number;
    }
  | { readonly type: 'delete'; readonly name: string; readonly now: number }
  | {
      readonly type: 'keep_hash';
      readonly name: string;
      /** The value that was hashed. Nothing happens when the variable has another one. */
      readonly valueRef: string | null;
      readonly hash: TokenHash | null;
      readonly now: number;
    };

/** Null for a variable that does not exist and of which no hash is kept. */
export type VariableState = {
  readonly name: string;
  /** Null for a variable that does not exist. */
  readonly valueRef: string | null;
  readonly updatedAt: number;
  readonly isHashed: boolean;
} | null;

export const ID_PREFIX: IdPrefix = 'var';

/** A name has one stream for all variables that a workspace ever had under it. */
export const variableId = (workspaceId: string, name: string): string => derivedId(ID_PREFIX, workspaceId, name);

export const variable: Decider<VariableCommand, VariableEvent, VariableState> = {
  category: 'variable',
  initialState: () => null,

  decide(command, state): VariableEvent[] {
    const { name, now } = command;
    switch (command.type) {
      case 'set': {
        checkName(name);
        const { valueRef, hash } = command;
        const kept = state?.isHashed === true && hash !== null ? { hash } : {};
        const replacedRef = state?.valueRef ?? null;
        return [{ type: 'VariableSet', data: { name, valueRef, replacedRef, ...kept, setAt: now } }];
      }
      case 'delete':
        if (!state || state.valueRef === null) throw variableNotFound(name);
        return [{ type: 'VariableDeleted', data: { name, replacedRef: state.valueRef, deletedAt: now } }];
      case 'keep_hash':
        if (state?.isHashed === true || (state?.valueRef ?? null) !== command.valueRef) return [];
        return [{ type: 'VariableHashed', data: { name, hash: command.hash, hashedAt: now } }];
    }
  },

  evolve(state, event): VariableState {
    const isHashed = state?.isHashed ?? false;
    switch (event.type) {
      case 'VariableSet': {
        const { name, valueRef, setAt } = event.data;
        return { name, valueRef, updatedAt: setAt, isHashed };
      }
      case 'VariableDeleted': {
        const { name, deletedAt } = event.data;
        return isHashed ? { name, valueRef: null, updatedAt: deletedAt, isHashed } : null;
      }
      case 'VariableHashed': {
        const { name, hashedAt } = event.data;
        return { ...(state ?? { name, valueRef: null, updatedAt: hashedAt }), isHashed: true };
      }
    }
  },
};

/** Names that would change how Node.js or the loader of a process behaves, or that belong to the server. */
const RESERVED = ['SLUICE_', 'NODE_', 'LD_'];
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/;

/** Throws request.invalid_parameter for a name that no variable may have. */
export const checkName = (name: string): void => {
  const reserved = RESERVED.find((prefix) => name.startsWith(prefix));
  if (reserved === undefined && NAME.test(name)) return;
  const fault =
    reserved === undefined
      ? 'must be 1 to 100 letters, digits and _, and must not begin with a digit'
      : `must not begin with ${reserved}`;
  throw new DomainError('request.invalid_parameter', `the name of a variable ${fault}; got ${shownId(name)}`, {
    field: 'name',
    limit: 100,
    actual: shownId(name),
  });
};

export const MAX_VALUE_BYTES = 65_536;

/** Throws request.invalid_parameter for a value that is too large. Its text never shows the value. */
export const checkValue = (value: string): void => {
  const bytes = Buffer.byteLength(value);
  if (bytes > 0 && bytes <= MAX_VALUE_BYTES) return;
  throw new DomainError(
    'request.invalid_parameter',
    `parameter value must have 1 to ${MAX_VALUE_BYTES} bytes of UTF-8; it has ${bytes}`,
    { field: 'value', limit: MAX_VALUE_BYTES, actual: bytes },
  );
};

/** What a literal token may be (docs/reference/workflows.md#trigger-token). */
const TOKEN = /^[\x21-\x7e]{8,512}$/;

/** Hash of a value. Null for a value that cannot be a token. */
export const hashOfValue = (value: string, hashed: (token: string) => TokenHash): TokenHash | null =>
  TOKEN.test(value) ? hashed(value) : null;

const variableNotFound = (name: string): DomainError =>
  new DomainError('variable.not_found', `the workspace has no variable ${shownId(name)}`, { name: shownId(name) });
