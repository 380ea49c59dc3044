import { Inject, Injectable } from '@nestjs/common';
import { type Clock } from '#libs/kernel/clock.js';
import { type CommandContext, type CommandResult, type HandleCommand } from '#libs/kernel/handle-command.js';
import { newTokenHash, type TokenHash } from '#libs/kernel/token-hash.js';
import { CLOCK, HANDLE_COMMAND, VAULT } from '#libs/kernel/tokens.js';
import { type Vault } from '#libs/kernel/vault.js';
import { hashOfValue, variable, type VariableCommand, variableId, type VariableState } from './domain/variable.js';
import { type TokenVariables } from './published.js';

const MAX_ROUNDS = 20;

/** Reads the value before the event, which is written only if the variable still has that value. */
@Injectable()
export class TokenHashes implements TokenVariables {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handle: HandleCommand,
    @Inject(VAULT) private readonly vault: Pick<Vault, 'get'>,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async keepHash(name: string, context: CommandContext): Promise<void> {
    const id = variableId(context.workspaceId, name);
    let valueRef: string | null = null;
    let hash: TokenHash | null = null;
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      const command: VariableCommand = { type: 'keep_hash', name, valueRef, hash, now: this.clock.now() };
      const { state }: CommandResult<VariableState> = await this.handle(variable, id, command, context);
      if (state?.isHashed === true) return;
      // The variable has a value, or got another one meanwhile, whose former one may be gone from the vault.
      valueRef = state?.valueRef ?? null;
      const value: string | undefined = valueRef === null ? '' : await this.vault.get(valueRef, context.workspaceId);
      hash = value === undefined ? null : hashOfValue(value, newTokenHash);
      if (value === undefined) valueRef = null;
    }
    throw new Error(`variable ${name} had another value at each of ${MAX_ROUNDS} attempts to keep its hash`);
  }
}
