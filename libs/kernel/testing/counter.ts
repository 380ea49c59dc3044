import { type Decider } from '../decider.js';
import { DomainError } from '../domain-error.js';
import { type CommandContext } from '../handle-command.js';

/** Smallest aggregate that can conflict, refuse and do nothing, for specs of the kernel and the engines. */
export interface Added {
  readonly type: 'Added';
  readonly data: { readonly amount: number };
}
export interface Add {
  readonly amount: number;
}

export const counter: Decider<Add, Added, number> = {
  category: 'counter',
  initialState: () => 0,
  decide: ({ amount }, total) => {
    if (total + amount > 10) throw new DomainError('request.invalid_parameter', `total ${total + amount} is above 10`);
    return amount === 0 ? [] : [{ type: 'Added', data: { amount } }];
  },
  evolve: (total, event) => total + event.data.amount,
};

export const context = (commandId: string, over: Partial<CommandContext> = {}): CommandContext => ({
  commandId,
  correlationId: 'corr-1',
  causationId: commandId,
  actor: { userId: 'u_1', apiKeyId: 'key_1' },
  workspaceId: 'o_1',
  ...over,
});
