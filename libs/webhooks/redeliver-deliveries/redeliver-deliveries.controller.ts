import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Transform } from 'class-transformer';
import { IsIn, IsInt, IsOptional, Min } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { integerFromText } from '#libs/http/from-text.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { one } from '#libs/http/replies.js';
import { listOf, named, text, type TypeOf } from '#libs/http/reply-schema.js';
import { RedeliverDeliveries, type Redelivered } from './redeliver-deliveries.handler.js';
import { Meaning } from '#libs/http/meaning.js';

class RedeliverDto {
  @Meaning('Which deliveries are sent again: `final` (failed), `success` or `any`; `final` by default')
  @IsOptional()
  @IsIn(['final', 'success', 'any'])
  outcome?: 'final' | 'success' | 'any' | null;
  @Meaning('Epoch milliseconds of the last attempt, from here on')
  @IsOptional()
  @Transform(integerFromText)
  @IsInt()
  @Min(0)
  since?: number | null;
  @Meaning('Epoch milliseconds of the last attempt, up to here')
  @IsOptional()
  @Transform(integerFromText)
  @IsInt()
  @Min(0)
  until?: number | null;
}

/** See docs/reference/rest-api.md#redeliver-many. */
const Redeliveries = named('Redeliveries', {
  queued: listOf(text(), 'Deliveries that are on their way again, oldest first'),
  gone: listOf(text(), 'Deliveries that cannot be sent again, because their event is no longer kept'),
});

@Controller('v1/webhooks/:id/deliveries')
export class RedeliverDeliveriesController {
  constructor(private readonly commands: CommandBus) {}

  /** Answers once the deliveries are queued. Their outcomes appear in the list of deliveries. */
  @Post('redeliver')
  @Operation({ summary: 'Send the deliveries that failed again', body: RedeliverDto, reply: one(Redeliveries) })
  @HttpCode(200)
  async redeliver(
    @Param('id') id: string,
    @Params('query_wins', RedeliverDto) { outcome, since, until }: RedeliverDto,
    @CurrentCaller() caller: Caller,
  ): Promise<{ data: TypeOf<typeof Redeliveries> }> {
    const which = { outcome: outcome ?? 'final', since: since ?? 0, until: until ?? Number.MAX_SAFE_INTEGER } as const;
    const data: Redelivered = await this.commands.execute(new RedeliverDeliveries(id, which, caller.workspaceIds));
    return { data };
  }
}
