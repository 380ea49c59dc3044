import { auditable } from '#libs/kernel/auditable.js';
import { type Context } from '#libs/kernel/context.js';
import { type Vault } from '#libs/kernel/vault.js';
import { VariableCleanUpReactor } from './clean-up/variable-clean-up.reactor.js';
import { ID_PREFIX, variable, type VariableState } from './domain/variable.js';
import { VARIABLE_LIMITS } from './limits.js';
import { type VariableEvent } from './published.js';
import { VariablesModule, type VariablesPorts } from './variables.module.js';
import { VariablesView } from './variables-view.js';

/** Null for a variable that does not exist. */
const readable = (state: VariableState) =>
  state === null || state.valueRef === null
    ? null
    : { name: state.name, valueRef: state.valueRef, updatedAt: state.updatedAt };

export const variablesContext = {
  views: () => ({ variables: new VariablesView() }),
  reactors: { variables: ({ vault }: { readonly vault: Vault }) => new VariableCleanUpReactor(vault) },
  ids: [ID_PREFIX],
  limits: VARIABLE_LIMITS,
  auditable: [auditable(ID_PREFIX, variable, readable)],
  workspaceAudit: [variable.category],
  holds: {
    what: 'variable',
    from: 'VariableSet' satisfies VariableEvent['type'],
    until: 'VariableDeleted' satisfies VariableEvent['type'],
  },
  module: (ports: VariablesPorts) => VariablesModule.forRoot(ports),
} as const satisfies Context;
