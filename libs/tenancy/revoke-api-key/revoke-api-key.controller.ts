import { Controller, Delete, HttpCode, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { workspaceOfAccount } from '#libs/http/workspace.js';
import { WritesOwn } from '#libs/http/writes.guard.js';
import { type Caller } from '#libs/http/callers.js';
import { RevokeApiKey } from './revoke-api-key.handler.js';

@Controller('v1/api_keys')
export class RevokeApiKeyController {
  constructor(private readonly commands: CommandBus) {}

  /** An extension. The key is refused from the next request on, even when this request used it. */
  @Delete(':id')
  @WritesOwn()
  @Operation({ summary: 'Revoke an API key' })
  @HttpCode(204)
  async revoke(
    @Param('id') id: string,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed> {
    const context = contextIn(workspaceOfAccount(caller));
    const { position } = await this.commands.execute(new RevokeApiKey(id, context));
    return new Changed(position);
  }
}
