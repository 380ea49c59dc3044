import { auditable } from '#libs/kernel/auditable.js';
import { type Context } from '#libs/kernel/context.js';
import { type Vault } from '#libs/kernel/vault.js';
import { VariableCleanUpReactor } from './clean-up/variable-clean-up.reactor.js';
import { ID_PREFIX, variable } from './domain/variable.js';
import { VARIABLE_LIMITS } from './limits.js';
import { type VariableEvent } from './published.js';
import { VariablesModule, type VariablesPorts } from './variables.module.js';
import { VariablesView } from './variables-view.js';

export const variablesContext = {
  views: () => ({ variables: new VariablesView() }),
  reactors: { variables: ({ vault }: { readonly vault: Vault }) => new VariableCleanUpReactor(vault) },
  ids: [ID_PREFIX],
  limits: VARIABLE_LIMITS,
  auditable: [auditable(ID_PREFIX, variable)],
  workspaceAudit: [variable.category],
  holds: {
    what: 'variable',
    from: 'VariableSet' satisfies VariableEvent['type'],
    until: 'VariableDeleted' satisfies VariableEvent['type'],
  },
  module: (ports: VariablesPorts) => VariablesModule.forRoot(ports),
} as const satisfies Context;
