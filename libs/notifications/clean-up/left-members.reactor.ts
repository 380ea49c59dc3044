import { type EventStore } from '#libs/kernel/event-store.js';
import { idOf, streamName, type RecordedEvent } from '#libs/kernel/events.js';
import { type HandleCommand } from '#libs/kernel/handle-command.js';
import { type Clock } from '#libs/kernel/clock.js';
import { readAll } from '#libs/kernel/read-all.js';
import { type Reactor, reactionTo } from '#libs/kernel/reactor.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type ReadYourWrites } from '#libs/kernel/read-your-writes.js';
import { type WorkspaceEvent } from '#libs/tenancy/published.js';
import { errorEmails } from '../domain/error-emails.js';
import { type ErrorEmailsDoc, errorEmailsProjection } from '../read-models/error-emails.projection.js';

export interface LeftMembersDependencies {
  readonly events: EventStore;
  readonly handleCommand: HandleCommand;
  readonly readModels: ReadModelStore;
  readonly readYourWrites: ReadYourWrites;
  readonly clock: Clock;
}

const CAUGHT_UP_MS = 10_000;

/**
 * Switches off the emails of a user who leaves a workspace, so that a later membership, which another user grants,
 * brings none (docs/reference/rest-api.md#error-emails).
 */
export class LeftMembersReactor implements Reactor {
  readonly name = 'notifications.left-members.v1';
  readonly eventTypes: readonly WorkspaceEvent['type'][] = ['WorkspaceMemberRemoved'];

  constructor(private readonly deps: LeftMembersDependencies) {}

  async handle(recorded: RecordedEvent): Promise<void> {
    const { readModels, readYourWrites, handleCommand, clock } = this.deps;
    const event = recorded as RecordedEvent & WorkspaceEvent;
    if (event.type !== 'WorkspaceMemberRemoved') return;
    const { userId } = event.data;
    // The list must contain every source whose emails were switched on before the user left.
    if (!(await readYourWrites.waitFor(event.position, CAUGHT_UP_MS)))
      throw new Error(`read models have not reached position ${event.position} after ${CAUGHT_UP_MS} ms`);
    const where = { workspaceId: idOf(event.stream) };
    for (const doc of await readAll<ErrorEmailsDoc>(readModels, errorEmailsProjection.schema, where)) {
      if (doc.userId !== userId || (await this.isSwitchedAfter(doc.id, event))) continue;
      const command = { type: 'switch_off', userId, now: clock.now() } as const;
      await handleCommand(errorEmails, doc.id, command, reactionTo(event, this.name));
    }
  }

  /** Whether the user is back and has switched them on again. */
  private async isSwitchedAfter(sourceId: string, { position }: RecordedEvent): Promise<boolean> {
    const stream = streamName(errorEmails.category, sourceId);
    for await (const last of this.deps.events.read(stream, { direction: 'backwards', limit: 1 }))
      return last.position > position;
    return false;
  }
}
