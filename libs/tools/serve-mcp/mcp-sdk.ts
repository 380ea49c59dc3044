import { type Server } from '@modelcontextprotocol/sdk/server/index.js';
import { type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { type ListedTool } from '../domain/tool-list.js';
import { type ToolReply } from '../domain/tool-reply.js';

/** What a request of the protocol is answered with. */
export interface McpHandlers {
  /** Resolves with the page of the list after the name `after`. */
  readonly list: (
    after: string | undefined,
  ) => Promise<{ readonly tools: readonly ListedTool[]; readonly next?: string }>;
  /** Resolves with undefined when the caller has no such tool. */
  readonly call: (name: string, given: Readonly<Record<string, unknown>> | undefined) => Promise<ToolReply | undefined>;
}

/** What the protocol reads of a request beside its body. */
export interface McpHeaders {
  readonly accept?: string | undefined;
  readonly 'content-type'?: string | undefined;
  readonly 'mcp-protocol-version'?: string | undefined;
}

export interface McpAnswer {
  readonly status: number;
  /** JSON. Empty for a message that needs no answer. */
  readonly text: string;
}

/** Loaded for the first request, because most processes serve none. */
const load = async () => {
  const server = await import('@modelcontextprotocol/sdk/server/index.js');
  const transport = await import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js');
  const types = await import('@modelcontextprotocol/sdk/types.js');
  return { ...server, ...transport, ...types };
};
let loaded: ReturnType<typeof load> | undefined;

/** The default one compiles schemas. This server asks its clients for nothing, so it checks no answer of theirs. */
const NO_VALIDATOR = {
  getValidator: () => {
    throw new Error('this server checks no answer of a client');
  },
};

/**
 * Answers one message of the protocol. Nothing is kept for the next one. Rejects with what a handler rejected with.
 * @param body a JSON value that was read already
 */
export const answerMcp = async (
  body: unknown,
  headers: McpHeaders,
  { list, call }: McpHandlers,
  version: string,
): Promise<McpAnswer> => {
  loaded ??= load();
  const sdk = await loaded;
  const server = new sdk.Server(
    { name: 'sluice', version },
    { capabilities: { tools: {} }, jsonSchemaValidator: NO_VALIDATOR },
  );
  const failures: unknown[] = [];
  const kept = async <R>(answer: Promise<R>): Promise<R> => {
    try {
      return await answer;
    } catch (error) {
      failures.push(error);
      throw error;
    }
  };
  server.setRequestHandler(sdk.ListToolsRequestSchema, async ({ params }) => {
    const { tools, next } = await kept(list(params?.cursor));
    return { tools, ...(next === undefined ? {} : { nextCursor: next }) };
  });
  server.setRequestHandler(sdk.CallToolRequestSchema, async ({ params: { name, arguments: given } }) => {
    const result = await kept(call(name, given));
    if (result) return result as unknown as CallToolResult;
    throw new sdk.McpError(sdk.ErrorCode.InvalidParams, `there is no tool ${JSON.stringify(name.slice(0, 100))}`);
  });
  const answer = await respond(server, new sdk.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true }), {
    body,
    headers,
  });
  if (failures.length > 0) throw failures[0];
  return answer;
};

type Transport = InstanceType<Awaited<ReturnType<typeof load>>['WebStandardStreamableHTTPServerTransport']>;

const respond = async (
  server: Server,
  transport: Transport,
  { body, headers }: { readonly body: unknown; readonly headers: McpHeaders },
): Promise<McpAnswer> => {
  try {
    await server.connect(transport);
    const given = Object.entries(headers).flatMap(([name, value]: [string, string | undefined]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    const request = new Request('http://localhost/mcp', { method: 'POST', headers: Object.fromEntries(given) });
    const response = await transport.handleRequest(request, { parsedBody: body });
    return { status: response.status, text: await response.text() };
  } finally {
    await server.close();
  }
};
