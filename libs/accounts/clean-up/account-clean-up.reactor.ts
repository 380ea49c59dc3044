import { type EventStore } from '#libs/kernel/event-store.js';
import { type RecordedEvent } from '#libs/kernel/events.js';
import { type Reactor } from '#libs/kernel/reactor.js';
import { type Vault } from '#libs/kernel/vault.js';
import { account } from '../domain/account.js';
import { type AccountEvent } from '../published.js';

/** Removes the credentials of a disconnected account, and those that newer ones replaced. */
export class AccountCleanUpReactor implements Reactor {
  readonly name = 'accounts.clean-up.v1';
  readonly eventTypes: readonly AccountEvent['type'][] = ['AccountDisconnected', 'AccountUpdated', 'AccountRefreshed'];

  constructor(private readonly deps: { readonly events: EventStore; readonly vault: Vault }) {}

  async handle(recorded: RecordedEvent): Promise<void> {
    const { events, vault } = this.deps;
    const event = recorded as RecordedEvent & AccountEvent;
    if (event.type === 'AccountRefreshed') return vault.delete(event.data.replacedRef);
    let state = account.initialState();
    const refs = new Set<string>();
    for await (const past of events.read(event.stream)) {
      const known = past as RecordedEvent & AccountEvent;
      state = account.evolve(state, known);
      for (const ref of refsIn(known)) refs.add(ref);
      if (past.revision === event.revision) break;
    }
    if (state.status === 'connected')
      for (const ref of [state.credentialsRef, state.oauth?.ref, state.oauth?.attempt?.credentialsRef])
        refs.delete(ref ?? '');
    for (const ref of refs) await vault.delete(ref);
  }
}

/** References to the vault that an event brought. */
const refsIn = (event: AccountEvent): readonly string[] => {
  switch (event.type) {
    case 'AccountConnected':
    case 'AccountUpdated':
      return event.data.oauth ? [event.data.credentialsRef, event.data.oauth.ref] : [event.data.credentialsRef];
    case 'AccountRefreshStarted':
    case 'AccountRefreshed':
      return [event.data.credentialsRef];
    case 'AccountRefreshFailed':
    case 'AccountCredentialsShown':
    case 'AccountDisconnected':
      return [];
  }
};
