import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { RESOURCE_LIMITS } from '#libs/kernel/resource-limits.js';
import { CLOCK, HANDLE_COMMAND, READ_MODELS } from '#libs/kernel/tokens.js';
import { mustHaveRoomFor } from './domain/member-limit.js';
import { memberNotFound, workspace } from './domain/workspace.js';
import { type Role } from './published.js';
import { type UserDoc, usersProjection } from './read-models/users.projection.js';
import { type WorkspaceDoc, workspacesProjection } from './read-models/workspaces.projection.js';
import { type MemberReply } from './member-reply.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { isIdOf } from '#libs/kernel/ids.js';
import { type TenancyLimits } from './limits.js';

export interface ChangedMember {
  /** Undefined after a removal. */
  readonly member?: MemberReply;
  readonly position?: Position;
}

/** Adds a user to the workspace of the context, changes the role of a member, or removes one. */
export class ChangeMember extends Command<ChangedMember> {
  constructor(
    readonly change:
      | { readonly type: 'add_member' | 'change_role'; readonly userId: string; readonly role: Role }
      | { readonly type: 'remove_member'; readonly userId: string },
    readonly context: CommandContext,
  ) {
    super();
  }
}

/** Throws user.not_found, member.not_found, member.already_exists, auth.not_an_owner or workspace.limit_reached. */
@CommandHandler(ChangeMember)
export class ChangeMemberHandler implements ICommandHandler<ChangeMember> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(RESOURCE_LIMITS) private readonly limits: TenancyLimits,
  ) {}

  async execute({ change, context }: ChangeMember): Promise<ChangedMember> {
    const { workspaceId } = context;
    const { userId } = change;
    const user = isIdOf('u', userId) ? await this.readModels.get<UserDoc>(usersProjection.schema, userId) : undefined;
    if (change.type === 'add_member') {
      if (!user) throw userNotFound(userId);
      await this.mustHaveRoom(workspaceId);
    } else if (!user) throw memberNotFound(userId);
    const command = { ...change, workspaceId, by: context.actor.userId, now: this.clock.now() };
    const { position } = await this.handleCommand(workspace, workspaceId, command, context);
    const at = position === undefined ? {} : { position };
    if (change.type === 'remove_member') return at;
    return { member: { user_id: userId, username: user.username, email: user.email, role: change.role }, ...at };
  }

  private async mustHaveRoom(workspaceId: string): Promise<void> {
    const doc = await this.readModels.get<WorkspaceDoc>(workspacesProjection.schema, workspaceId);
    mustHaveRoomFor(Object.keys(doc?.members ?? {}).length, this.limits.membersPerWorkspace);
  }
}

const userNotFound = (userId: string): DomainError =>
  new DomainError('user.not_found', `there is no user ${userId.slice(0, 60)}: the operator makes users`, {
    field: 'user_id',
  });
