import { type RecordedEvent } from '#libs/kernel/events.js';
import { type Reactor } from '#libs/kernel/reactor.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type VariableDeleted, type VariableSet } from '../published.js';

/** Removes the value of a deleted variable, and one that a newer value replaced. */
export class VariableCleanUpReactor implements Reactor {
  readonly name = 'variables.clean-up.v1';
  readonly eventTypes: readonly (VariableSet | VariableDeleted)['type'][] = ['VariableSet', 'VariableDeleted'];

  constructor(private readonly vault: Vault) {}

  async handle(recorded: RecordedEvent): Promise<void> {
    const { replacedRef } = (recorded as RecordedEvent & (VariableSet | VariableDeleted)).data;
    if (replacedRef !== null) await this.vault.delete(replacedRef);
  }
}
