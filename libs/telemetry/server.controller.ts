import { Controller, Get, Inject, Req } from '@nestjs/common';
import { type Request } from 'express';
import { OPERATOR_ACCESS, type OperatorAccess } from '#libs/http/operator-access.js';
import { Operation } from '#libs/http/operation.js';
import { one } from '#libs/http/replies.js';
import {
  boolean,
  listOf,
  milliseconds,
  named,
  nullable,
  object,
  oneOf,
  optional,
  text,
  type TypeOf,
} from '#libs/http/reply-schema.js';
import { READINESS, type Readiness } from './readiness.js';

const FACTS = {
  version: text('Version of the package'),
  engine: oneOf(['embedded', 'distributed'], 'Where the server keeps its data'),
  isolation: nullable(text('Level of the jail of user code; null in a process that runs none and has no set level')),
  public_url: text('Where users reach the server'),
  endpoint_form: oneOf(['path', 'host'], 'Whether the address of an endpoint has its key in the path or in the host'),
  started_at: milliseconds('Epoch milliseconds of the start of this process'),
  emails: boolean('Whether the server can send emails'),
  registry: boolean('Whether the server has a registry of components'),
};

/** See docs/reference/rest-api.md#server. */
const Server = named('Server', {
  ...FACTS,
  ready: boolean('Whether this process can do its work'),
  checks: optional(
    listOf(
      object({
        name: text('Name of the check'),
        ok: boolean('Whether all is well'),
        message: text('`ok`, or what is wrong'),
      }),
      'Shown to the operator only',
    ),
  ),
});
type ServerReply = TypeOf<typeof Server>;

/** What does not change while the process runs. */
export type ServerFacts = Omit<ServerReply, 'ready' | 'checks'>;
export const SERVER_FACTS = Symbol('ServerFacts');

@Controller('v1/server')
export class ServerController {
  constructor(
    @Inject(SERVER_FACTS) private readonly facts: ServerFacts,
    @Inject(READINESS) private readonly readiness: Readiness,
    @Inject(OPERATOR_ACCESS) private readonly access: OperatorAccess,
  ) {}

  @Get()
  @Operation({ summary: 'What this server is, and whether it is well', reply: one(Server) })
  async get(@Req() request: Request): Promise<{ readonly data: ServerReply }> {
    const { status, checks } = await this.readiness.report();
    const data = { ...this.facts, ready: status === 'ready' };
    if (!this.access.allows(request)) return { data };
    const all = Object.entries(checks).map(([name, message]) => ({ name, ok: message === 'ok', message }));
    return { data: { ...data, checks: all } };
  }
}
