import { Controller, HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsInt,
  IsOptional,
  IsString,
  MaxLength,
  MinLength,
} from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { flagFromText, integerFromText } from '#libs/http/from-text.js';
import { Operation } from '#libs/http/operation.js';
import { workspaceOfAccount } from '#libs/http/workspace.js';
import { Params } from '#libs/http/parameters.js';
import { one } from '#libs/http/replies.js';
import { type TypeOf } from '#libs/http/reply-schema.js';
import { WritesOwn } from '#libs/http/writes.guard.js';
import { type Caller } from '#libs/http/callers.js';
import { apiKeyReply, IssuedApiKey } from '../api-key-reply.js';
import { type KeyLimits } from '../domain/api-key.js';
import { MOST_TOOLS, namesOfTools } from '../domain/names-of-tools.js';
import { IssueApiKey } from './issue-api-key.handler.js';
import { Meaning } from '#libs/http/meaning.js';

class IssueApiKeyDto {
  @Meaning('Name of the key, for people')
  @IsOptional()
  @IsString()
  @MinLength(1)
  @MaxLength(100)
  name?: string;

  @Meaning('Whether the key may change nothing; false by default')
  @IsOptional()
  @Transform(flagFromText)
  @IsBoolean()
  read_only?: boolean | null;

  @Meaning('Epoch seconds from which the key is refused; absent or null for no end')
  @IsOptional()
  @Transform(integerFromText)
  @IsInt()
  expires_at?: number | null;

  @Meaning(
    'Names of 1 to 200 tools, or keys of actions, of 1 to 48 letters, digits, - and _: the key opens these at POST /mcp and nothing else; absent or null for a key for everything',
  )
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_TOOLS)
  @IsString({ each: true })
  tools?: string[] | null;
}

@Controller('v1/api_keys')
export class IssueApiKeyController {
  constructor(private readonly commands: CommandBus) {}

  /** An extension: issues another key for the caller. Only this reply shows the key. */
  @Post()
  @WritesOwn()
  @Operation({
    summary: 'Issue a further API key; the reply alone shows it',
    body: IssueApiKeyDto,
    limits: ['read_only', 'expires_at', 'tools'],
    reply: one(IssuedApiKey),
  })
  @HttpCode(200)
  async issue(
    @Params('body_wins', IssueApiKeyDto) { name = 'API key', read_only, expires_at, tools }: IssueApiKeyDto,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<{ data: TypeOf<typeof IssuedApiKey> }>> {
    const context = contextIn(workspaceOfAccount(caller));
    const limits: KeyLimits = {
      ...(read_only === true ? { readOnly: true } : {}),
      ...(typeof expires_at === 'number' ? { expiresAt: expires_at * 1_000 } : {}),
      ...(tools ? { tools: namesOfTools(tools) } : {}),
    };
    const issue = new IssueApiKey(name, limits, caller.keyExpiresAt, context);
    const { position, issuedAt, id, key } = await this.commands.execute(issue);
    return new Changed(position, { data: { ...apiKeyReply({ id, name, issuedAt, ...limits }), key } });
  }
}
