import { type Decider } from '#libs/kernel/decider.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type IdPrefix, derivedId, shownId } from '#libs/kernel/ids.js';
import { type VariableEvent } from '../published.js';

export type VariableCommand =
  | { readonly type: 'set'; readonly name: string; readonly valueRef: string; readonly now: number }
  | { readonly type: 'delete'; readonly name: string; readonly now: number };

/** Null for a variable that does not exist. */
export type VariableState = {
  readonly name: string;
  readonly valueRef: string;
  readonly updatedAt: number;
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
        const { valueRef } = command;
        return [{ type: 'VariableSet', data: { name, valueRef, replacedRef: state?.valueRef ?? null, setAt: now } }];
      }
      case 'delete':
        if (!state) throw variableNotFound(name);
        return [{ type: 'VariableDeleted', data: { name, replacedRef: state.valueRef, deletedAt: now } }];
    }
  },

  evolve(_, event): VariableState {
    switch (event.type) {
      case 'VariableSet': {
        const { name, valueRef, setAt } = event.data;
        return { name, valueRef, updatedAt: setAt };
      }
      case 'VariableDeleted':
        return null;
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

const variableNotFound = (name: string): DomainError =>
  new DomainError('variable.not_found', `the workspace has no variable ${shownId(name)}`, { name: shownId(name) });
