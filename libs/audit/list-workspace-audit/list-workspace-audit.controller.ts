import { Readable } from 'node:stream';
import { Controller, Get, Header, Param, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { type Response } from 'express';
import { Semaphore } from '#libs/async/semaphore.js';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { type ListReply, listReply, pageQuery } from '#libs/http/pages.js';
import { describe, type Parameters, Params } from '#libs/http/parameters.js';
import { paged } from '#libs/http/replies.js';
import {
  anyJson,
  integer,
  listOf,
  named,
  nullable,
  object,
  optional,
  text,
  type TypeOf,
} from '#libs/http/reply-schema.js';
import { memberOf } from '#libs/http/workspace.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type PageQuery } from '#libs/kernel/read-model-store.js';
import { masked } from '../get-audit/masked.js';
import { momentsIn } from '#libs/http/moment.js';
import { sortWithin } from '../read-models/workspace-audit.projection.js';
import { type AuditedEvent, ListWorkspaceAudit } from './list-workspace-audit.query.js';

/** See docs/reference/rest-api.md#workspace-audit-entry. */
const WorkspaceAuditEntry = named('WorkspaceAuditEntry', {
  id: text('Position in the event log'),
  resource_id: text('Id of the resource'),
  kind: text('Such as `source`'),
  type: text('Such as `SourceDeployed`'),
  revision: integer('Number of the event of its resource, from 0'),
  at: text('ISO 8601 in UTC'),
  actor: object(
    {
      user_id: text('`system` for the server itself, `operator` for the command line'),
      api_key_id: nullable(text('Null without a key')),
    },
    'Who caused the event',
  ),
  request_id: text('Request that caused it'),
  changes: nullable(
    listOf(
      object({
        path: text('Names with dots between'),
        before: optional(anyJson('Absent for a new field')),
        after: optional(anyJson('Absent for a removed field')),
      }),
      'What is different afterwards; null from revision 500 on',
    ),
  ),
  data: anyJson('Data of the event; secrets are masked'),
});
type Entry = TypeOf<typeof WorkspaceAuditEntry>;

const FILTERS = { resource_id: 'resourceId', kind: 'kind', type: 'type', actor: 'actor' } as const;
/** Entries on the first page of an export, and on any page at most. An entry may have megabytes. */
const [FIRST_PAGE, LARGEST_PAGE] = [8, 100];
/** Size of a page above which the next one is shorter. */
const PAGE_CHARS = 512 * 1024;
/** Concurrent exports in a process, and of one workspace in it. */
const MAX_EXPORTS = 8;
const EXPORTS_PER_WORKSPACE = 2;

const TIME = 'epoch seconds or milliseconds, or an ISO 8601 time';
const ALSO = {
  resource_id: 'Id of a resource',
  kind: 'Such as source',
  type: 'Type of event',
  actor: 'User id, system, or operator',
  since: `Time of the oldest entry: ${TIME}`,
  until: `Time of the newest entry: ${TIME}`,
};

/** An extension: everything that happened to the resources of a workspace. */
@Controller(['v1/workspaces/:id/audit', 'v1/orgs/:id/audit'])
export class ListWorkspaceAuditController {
  private readonly exports = new Semaphore(MAX_EXPORTS, () => EXPORTS_PER_WORKSPACE);

  constructor(private readonly queries: QueryBus) {}

  @Get()
  @Operation({
    summary: 'What happened to the resources of a workspace, newest first',
    paged: true,
    reply: paged(WorkspaceAuditEntry),
    also: ALSO,
  })
  async list(
    @Param('id') id: string,
    @Params('query_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<ListReply<Entry>> {
    const which = whichOf(memberOf(caller, id), params);
    return listReply(await this.queries.execute(new ListWorkspaceAudit({ ...which, ...pageQuery(params) })), entryOf);
  }

  /** Sends the whole list, one line of JSON per entry. Reads it page by page, at the pace of the client. */
  @Get('export')
  @Header('Content-Type', 'application/x-ndjson')
  @Operation({
    summary: 'The same as a file of lines of JSON',
    produces: 'application/x-ndjson',
    replies: { 200: { description: 'A line of JSON for each entry, newest first', schema: text('Lines of JSON') } },
    also: ALSO,
  })
  export(
    @Param('id') id: string,
    @Params('query_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
    @Res() response: Response,
  ): Promise<void> {
    const workspaceId = memberOf(caller, id);
    const which = whichOf(workspaceId, params);
    if (!this.exports.tryAcquire(workspaceId)) throw tooManyExports();
    response.once('close', () => this.exports.release(workspaceId));
    return this.send(which, response);
  }

  private async send(which: Which, response: Response): Promise<void> {
    const all = this.lines(which);
    // Read before the answer begins, so that a failure is still answered with its status.
    const first = await all.next();
    response.status(200).type('application/x-ndjson');
    const lines = Readable.from(linesFrom(first, all));
    // The client left, or a page could not be read. The file then ends without its last line, which shows a reader that
    // it is incomplete.
    lines.on('error', () => response.destroy());
    response.once('close', () => lines.destroy());
    lines.pipe(response);
  }

  private async *lines(which: Which): AsyncGenerator<string> {
    let limit = FIRST_PAGE;
    for (let after: string | undefined; ;) {
      const page = { ...which, limit, ...(after === undefined ? {} : { after }) };
      const { docs } = await this.queries.execute(new ListWorkspaceAudit(page));
      let chars = 0;
      for (const doc of docs) {
        const line = `${JSON.stringify(entryOf(doc))}\n`;
        chars += line.length;
        yield line;
      }
      after = docs.at(-1)?.id;
      if (docs.length < limit) return;
      limit = chars > PAGE_CHARS ? Math.ceil(limit / 2) : Math.min(2 * limit, LARGEST_PAGE);
    }
  }
}

async function* linesFrom(first: IteratorResult<string, void>, others: AsyncGenerator<string>): AsyncGenerator<string> {
  if (first.done === true) return;
  yield first.value;
  yield* others;
}

const tooManyExports = (): DomainError =>
  new DomainError(
    'audit.too_many_exports',
    `${EXPORTS_PER_WORKSPACE} exports of a workspace run at once, and ${MAX_EXPORTS} of all workspaces of a process: wait until one has ended`,
    { limit: EXPORTS_PER_WORKSPACE, limit_in_all: MAX_EXPORTS },
  );

type Which = Pick<PageQuery, 'where' | 'from' | 'to'>;

const whichOf = (workspaceId: string, params: Parameters): Which => {
  const { since, until } = momentsIn(params);
  return { where: whereOf(workspaceId, params), ...sortWithin(since, until) };
};

const whereOf = (workspaceId: string, params: Parameters): Readonly<Record<string, string>> => {
  const where: Record<string, string> = { workspaceId };
  for (const [name, field] of Object.entries(FILTERS)) {
    const given = params[name];
    if (given === undefined || given === null || given === '') continue;
    if (typeof given !== 'string' || given.length > 200) {
      const actual = describe(given);
      const message = `parameter ${name} must be one text of at most 200 characters; got ${String(actual)}`;
      throw new DomainError('request.invalid_parameter', message, { field: name, limit: 200, actual });
    }
    where[field] = given;
  }
  return where;
};

const entryOf = ({ id, resourceId, kind, type, revision, event, changes }: AuditedEvent): Entry => ({
  id,
  resource_id: resourceId,
  kind,
  type,
  revision,
  at: new Date(event.recordedAt).toISOString(),
  actor: { user_id: event.metadata.actor.userId, api_key_id: event.metadata.actor.apiKeyId },
  request_id: event.metadata.$correlationId,
  changes,
  data: masked(event.data),
});
