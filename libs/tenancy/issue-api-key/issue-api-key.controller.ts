import { Controller, HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { IsOptional, IsString, MaxLength, MinLength } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { one } from '#libs/http/replies.js';
import { type TypeOf } from '#libs/http/reply-schema.js';
import { epochSeconds } from '#libs/kernel/clock.js';
import { type Caller } from '../../http/callers.js';
import { IssuedApiKey } from '../api-key-reply.js';
import { IssueApiKey } from './issue-api-key.handler.js';

class IssueApiKeyDto {
  @IsOptional()
  @IsString()
  @MinLength(1)
  @MaxLength(100)
  name?: string;
}

@Controller('v1/api_keys')
export class IssueApiKeyController {
  constructor(private readonly commands: CommandBus) {}

  /** An extension: issues another key for the caller. Only this reply shows the key. */
  @Post()
  @Operation({
    summary: 'Issue a further API key; the reply alone shows it',
    body: IssueApiKeyDto,
    reply: one(IssuedApiKey),
  })
  @HttpCode(200)
  async issue(
    @Params('body_wins', IssueApiKeyDto) { name = 'API key' }: IssueApiKeyDto,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<{ data: TypeOf<typeof IssuedApiKey> }>> {
    const context = contextIn(caller.workspaceIds[0] ?? '');
    const { position, issuedAt, id, key } = await this.commands.execute(new IssueApiKey(name, context));
    return new Changed(position, () => ({ data: { id, name, created_at: epochSeconds(issuedAt), key } }));
  }
}
