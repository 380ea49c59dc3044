import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { plainDefinition } from '#libs/workflows/domain/plain-definition.js';

type JsonObject = Readonly<Record<string, unknown>>;

export interface StoredWorkflow {
  readonly id: string;
  readonly revision: number;
  readonly body: JsonObject;
  readonly active?: boolean;
  readonly owner?: string;
  readonly isDeployed?: boolean;
}

interface Answer {
  readonly status: number;
  readonly body: object;
}

/** Fields of the answer of `GET /v1/users/me`. */
export const USER = { id: 'u_1', username: 'ada', email: 'ada@example.com' };

/** Keeps workflows as a server does, for tests of the command line without one. */
export class WorkflowsServer {
  /** By the path that names them. */
  readonly stored = new Map<string, StoredWorkflow>();
  asked: string[] = [];
  /** Answers in place of those of the server, by method and path. */
  readonly refused = new Map<string, Answer>();
  private readonly ids = new Set<string>();
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => {
      const path = request.url ?? '';
      const route = `${request.method ?? ''} ${path}`;
      this.asked.push(route);
      const ifMatch = request.headers['if-match'];
      void text(request).then((sent) => {
        const given = sent === '' ? {} : (JSON.parse(sent) as JsonObject);
        const { status, body } = this.answerTo(route, path, { given, ifMatch });
        response.writeHead(status).end(status === 204 ? undefined : JSON.stringify(body));
      });
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Adds a workflow as if somebody else had made it. */
  add(body: JsonObject, more: Partial<StoredWorkflow> = {}): string {
    const { external_id: external } = body;
    const id = more.id ?? this.newId();
    this.ids.add(id);
    const entry = { id, revision: 1, body, ...more };
    this.stored.set(`/v1/workflows/${id}`, entry);
    if (typeof external === 'string') this.stored.set(`/v1/workflows/ext%3A${encodeURIComponent(external)}`, entry);
    return id;
  }

  private newId(): string {
    return `p_${String(this.ids.size + 1).padStart(18, '0')}`;
  }

  private answerTo(
    route: string,
    path: string,
    { given, ifMatch }: { readonly given: JsonObject; readonly ifMatch: string | undefined },
  ): Answer {
    const instead = this.refused.get(route);
    if (instead) return instead;
    if (route === 'POST /v1/workflows/validate') return { status: 200, body: { data: { valid: true } } };
    if (route.startsWith('GET /v1/workflows?')) return this.page(new URLSearchParams(path.replace(/^.*\?/, '')));
    if (route === 'GET /v1/users/me') return { status: 200, body: { data: { ...USER, orgs: [{ id: OWNER }] } } };
    const before = this.stored.get(path);
    if (route.startsWith('PUT ')) return { status: 200, body: { data: shown(this.put(path, given, before)) } };
    if (!before) return { status: 404, body: { error: 'no such workflow', code: 'workflow_not_found' } };
    if (route.startsWith('GET ')) return { status: 200, body: { data: shown(before) } };
    if (ifMatch !== `"${before.revision}"`)
      return { status: 412, body: { error: 'changed', code: 'revision_mismatch' } };
    for (const name of this.namesOf(before.id)) this.stored.delete(name);
    return { status: 204, body: {} };
  }

  private put(path: string, given: JsonObject, before: StoredWorkflow | undefined): StoredWorkflow {
    const id = before?.id ?? this.newId();
    this.ids.add(id);
    const external = decodeURIComponent(path).replace(/^.*ext:/, '');
    const body = { name: external, external_id: external, ...before?.body, ...given };
    const isSame = before !== undefined && JSON.stringify(body) === JSON.stringify(before.body);
    const entry = { ...before, id, body, revision: (before?.revision ?? 0) + (isSame ? 0 : 1) };
    for (const name of new Set([path, `/v1/workflows/${id}`, ...this.namesOf(id)])) this.stored.set(name, entry);
    return entry;
  }

  private namesOf(id: string): readonly string[] {
    return [...this.stored].filter(([, each]) => each.id === id).map(([name]) => name);
  }

  private page(query: URLSearchParams): Answer {
    const all = [...new Map([...this.stored.values()].map((each) => [each.id, each])).values()];
    const owner = query.get('workspace_id');
    const visible = all.filter((each) => owner === null || (each.owner ?? OWNER) === owner);
    const limit = Number(query.get('limit'));
    const begin = Number(query.get('after') ?? '0');
    const data = visible.slice(begin, begin + limit).map((each) => ({ ...shown(each), definition: undefined }));
    const info = { end_cursor: data.length === 0 ? null : String(begin + data.length) };
    return { status: 200, body: { data, page_info: info } };
  }
}

const OWNER = 'o_1';

const shown = ({ id, revision, body, active = true, owner = OWNER, isDeployed = true }: StoredWorkflow): object => ({
  id,
  revision,
  active,
  owner_id: owner,
  version: isDeployed ? 1 : null,
  name: body['name'],
  managed_by: body['managed_by'] ?? null,
  definition: {
    ...(typeof body['schema'] === 'string' && body['schema'] !== 'workflow/2022.04' ? { schema: body['schema'] } : {}),
    name: body['name'],
    ...(body['external_id'] === undefined ? {} : { external_id: body['external_id'] }),
    ...plainDefinition({ ...body, schema: undefined }, () => true),
  },
});
