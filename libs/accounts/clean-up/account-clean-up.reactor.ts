import { type EventStore } from '#libs/kernel/event-store.js';
import { type RecordedEvent } from '#libs/kernel/events.js';
import { type Reactor } from '#libs/kernel/reactor.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type AccountEvent } from '../published.js';

/** Removes the credentials of a disconnected account, and those that newer ones replaced. */
export class AccountCleanUpReactor implements Reactor {
  readonly name = 'accounts.clean-up.v1';
  readonly eventTypes: readonly AccountEvent['type'][] = ['AccountDisconnected', 'AccountUpdated'];

  constructor(private readonly deps: { readonly events: EventStore; readonly vault: Vault }) {}

  async handle(recorded: RecordedEvent): Promise<void> {
    const { events, vault } = this.deps;
    const event = recorded as RecordedEvent & AccountEvent;
    const current = event.type === 'AccountUpdated' ? event.data.credentialsRef : undefined;
    for await (const past of events.read(event.stream)) {
      if (past.revision > event.revision) return;
      const { type, data } = past as RecordedEvent & AccountEvent;
      if (type !== 'AccountConnected' && type !== 'AccountUpdated') continue;
      if (data.credentialsRef !== current) await vault.delete(data.credentialsRef);
    }
  }
}
