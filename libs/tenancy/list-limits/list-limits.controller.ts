import { Controller, Get, Inject } from '@nestjs/common';
import { Operation } from '#libs/http/operation.js';
import { list } from '#libs/http/replies.js';
import { integer, named, nullable, text, type TypeOf } from '#libs/http/reply-schema.js';

/** See docs/reference/rest-api.md#limits-list. */
export const Limit = named('Limit', {
  setting: text('Variable that the operator sets'),
  value: nullable(integer('Value in force; null where the server chooses it')),
  allowed: text('Allowed values, with their unit'),
  meaning: text('What is limited'),
});

export type LimitReply = TypeOf<typeof Limit>;
export const SERVER_LIMITS = Symbol('ServerLimits');

@Controller('v1/limits')
export class ListLimitsController {
  constructor(@Inject(SERVER_LIMITS) private readonly limits: readonly LimitReply[]) {}

  @Get()
  @Operation({ summary: 'Limits of this server that its operator can set', reply: list(Limit) })
  list(): { data: readonly LimitReply[] } {
    return { data: this.limits };
  }
}
