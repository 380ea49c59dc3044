import { IsOptional, IsString, MaxLength } from 'class-validator';
import { Meaning } from '#libs/http/meaning.js';

/** Describes a message. The protocol itself checks it, and answers what is wrong with it. */
export class McpMessageDto {
  @Meaning('`2.0`')
  @IsString()
  @MaxLength(10)
  jsonrpc!: string;
  @Meaning('Such as `initialize`, `tools/list` or `tools/call`; absent from an answer')
  @IsOptional()
  @IsString()
  @MaxLength(200)
  method?: string;
  @Meaning('Text or integer that the answer repeats; absent from a notification')
  @IsOptional()
  id?: unknown;
}
