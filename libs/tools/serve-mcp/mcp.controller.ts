import { Controller, HttpCode, Inject, Post, Req, Res, UseGuards } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { OpenToToolsKeys } from '#libs/http/access.js';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { RequestRepeatId } from '#libs/http/repeat-id.js';
import { type RepeatId } from '#libs/http/request-state.js';
import { anyJson } from '#libs/http/reply-schema.js';
import { workspaceOf } from '#libs/http/workspace.js';
import { ReadsByPost } from '#libs/http/writes.guard.js';
import { MCP_SETTINGS, type McpSettings } from '../ports.js';
import { CallerTools } from './caller-tools.js';
import { answerMcp } from './mcp-sdk.js';
import { McpMessageDto } from './mcp-message.dto.js';
import { OriginGuard } from './origin.guard.js';

/** Serves tools to clients of the Model Context Protocol (docs/reference/workflows.md#mcp). */
@Controller('mcp')
@UseGuards(OriginGuard)
export class McpController {
  constructor(
    private readonly tools: CallerTools,
    @Inject(MCP_SETTINGS) private readonly settings: Pick<McpSettings, 'version'>,
  ) {}

  // A caller who may only read sees the tools that only read.
  @Post()
  @ReadsByPost()
  @OpenToToolsKeys()
  @HttpCode(200)
  @Operation<string | undefined>({
    summary: 'Answer a message of the Model Context Protocol',
    body: McpMessageDto,
    objects: { params: 'Of the method' },
    replies: {
      200: { description: 'Answer of the protocol', schema: anyJson() },
      400: { description: 'Error of the protocol, or of this server', schema: anyJson() },
      406: { description: 'Error of the protocol: `Accept` lacks a type', schema: anyJson() },
    },
    refusals: [403],
  })
  async answer(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
    @RequestRepeatId() repeat: RepeatId | undefined,
  ): Promise<string | undefined> {
    const asked = { caller, context: contextIn(workspaceOf(caller)), repeat };
    const { accept, 'content-type': type, 'mcp-protocol-version': revision } = request.headers;
    const headers = {
      accept,
      'content-type': type,
      'mcp-protocol-version': Array.isArray(revision) ? revision.join() : revision,
    };
    const { status, text } = await answerMcp(
      request.body,
      headers,
      {
        list: (after) => this.tools.list(asked, after),
        call: (name, given) => this.tools.call(asked, name, given),
      },
      this.settings.version,
    );
    response.status(status);
    if (text === '') return undefined;
    response.type('json');
    return text;
  }
}
