import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { BLOBS, CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import { bulkReplay } from './bulk-replay.js';

export class CancelBulkReplay extends Command<Position | undefined> {
  constructor(
    readonly replayId: string,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/** The process that replays stops at its next run. One that has ended stays as it is. */
@CommandHandler(CancelBulkReplay)
export class CancelBulkReplayHandler implements ICommandHandler<CancelBulkReplay> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(BLOBS) private readonly blobs: BlobStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ replayId, context }: CancelBulkReplay): Promise<Position | undefined> {
    const command = { type: 'end', outcome: 'cancelled', now: this.clock.now() } as const;
    const { state, position } = await this.handleCommand(bulkReplay, replayId, command, context);
    if (state?.state === 'cancelled') await this.blobs.delete(state.runsHash);
    return position;
  }
}
