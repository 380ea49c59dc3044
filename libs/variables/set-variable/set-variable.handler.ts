import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { RevisionConflict } from '#libs/kernel/event-store.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { newId } from '#libs/kernel/ids.js';
import { mustHaveRoom, RESOURCE_LIMITS } from '#libs/kernel/resource-limits.js';
import { newTokenHash } from '#libs/kernel/token-hash.js';
import { CLOCK, HANDLE_COMMAND, VAULT } from '#libs/kernel/tokens.js';
import { type Vault } from '#libs/kernel/vault.js';
import { checkName, checkValue, hashOfValue, variable, variableId } from '../domain/variable.js';
import { type VariableLimits } from '../limits.js';
import { VARIABLES } from '../ports.js';
import { type VariablesView } from '../variables-view.js';

export interface ChangedVariable {
  /** Epoch ms. */
  readonly updatedAt: number;
  readonly position: Position | undefined;
}

export class SetVariable extends Command<ChangedVariable> {
  constructor(
    readonly name: string,
    readonly value: string,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/**
 * Writes the value before the event. A crash between leaves a secret that nothing refers to. Each value has a reference
 * of its own, so that a process never reads a value that no event has set.
 */
@CommandHandler(SetVariable)
export class SetVariableHandler implements ICommandHandler<SetVariable> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(VAULT) private readonly vault: Vault,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(VARIABLES) private readonly variables: VariablesView,
    @Inject(RESOURCE_LIMITS) private readonly limits: VariableLimits,
  ) {}

  async execute({ name, value, context }: SetVariable): Promise<ChangedVariable> {
    const { workspaceId } = context;
    checkName(name);
    checkValue(value);
    if (!this.variables.has(workspaceId, name))
      mustHaveRoom(this.variables.count(workspaceId), {
        what: 'variables',
        owner: 'workspace',
        limit: this.limits.variablesPerWorkspace,
      });
    const now = this.clock.now();
    const valueRef = newId('sec', now);
    await this.vault.put(valueRef, workspaceId, value);
    const command = { type: 'set', name, valueRef, hash: hashOfValue(value, newTokenHash), now } as const;
    try {
      const { position } = await this.handleCommand(variable, variableId(workspaceId, name), command, context);
      return { updatedAt: now, position };
    } catch (error) {
      // No event was written. After any other failure the event may be stored.
      if (error instanceof RevisionConflict) await this.vault.delete(valueRef);
      throw error;
    }
  }
}
