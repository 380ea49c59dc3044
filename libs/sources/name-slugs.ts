import { Inject, Injectable } from '@nestjs/common';
import { KeyedMutex } from '#libs/async/serial-queue.js';
import { type Clock } from '#libs/kernel/clock.js';
import { RevisionConflict } from '#libs/kernel/event-store.js';
import { type CommandContext, type CommandResult, type HandleCommand } from '#libs/kernel/handle-command.js';
import { CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import {
  chooseSlug,
  nameSlugDecider,
  slugStreamId,
  type NameSlugCommand,
  type NameSlugState,
} from './domain/name-slug.js';
import { stepOf } from './step-of.js';

const MAX_ROUNDS = 20;

/** Reserves and releases the name slugs of a workspace. */
@Injectable()
export class NameSlugs {
  /** By stream. Without it, concurrent deployments of one name would conflict. */
  private readonly mutex = new KeyedMutex();

  constructor(
    @Inject(HANDLE_COMMAND) private readonly handle: HandleCommand,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Resolves with the slug that the source holds now: `slug` or, when it is taken, the first free `slug-N`. */
  async reserve(
    slug: string,
    sourceId: string,
    secretRefs: readonly string[],
    context: CommandContext,
  ): Promise<string> {
    const command = { type: 'ReserveNameSlug', slug, sourceId, secretRefs, now: this.clock.now() } as const;
    const { state } = await this.inTurn(command, context);
    return chooseSlug(state, slug, sourceId);
  }

  /** Releases a slug. Idempotent; does nothing when another source holds the slug. */
  async release(slug: string, sourceId: string, context: CommandContext): Promise<void> {
    await this.inTurn({ type: 'ReleaseNameSlug', slug, sourceId, now: this.clock.now() }, context);
  }

  private inTurn(command: NameSlugCommand, context: CommandContext): Promise<CommandResult<NameSlugState>> {
    const id = slugStreamId(context.workspaceId, command.slug);
    return this.mutex.run(id, () => this.decide(id, command, context));
  }

  /** Retries more often than an ordinary command, because other processes may write the same stream. */
  private async decide(
    id: string,
    command: NameSlugCommand,
    context: CommandContext,
  ): Promise<CommandResult<NameSlugState>> {
    for (let round = 1; ; round++) {
      try {
        return await this.handle(nameSlugDecider, id, command, stepOf(context));
      } catch (error) {
        if (!(error instanceof RevisionConflict) || round >= MAX_ROUNDS) throw error;
      }
    }
  }
}
