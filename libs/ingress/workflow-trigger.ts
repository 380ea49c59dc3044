import { type IncomingMessage } from 'node:http';
import { type HttpReply } from '#libs/component-model/run-output.js';
import { type Invocation, triggerInvocation } from '#libs/stream-log/invocations.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';

/** HTTP trigger of a workflow (docs/reference/workflows.md#http-replies). */
export interface EndpointTrigger {
  readonly id: string;
  readonly name: string;
  /** Sent once the event is durable. Null: the default one. */
  readonly staticResponse: Pick<HttpReply, 'status' | 'headers' | 'body'> | null;
  /** Whether the trigger admits this bearer token. Absent when it asks for none. */
  readonly admits?: (token: string) => boolean;
  /** How long a caller waits for what the run responds. */
  readonly replyTimeoutMs: number;
}

export const RUN_ID_HEADER = 'x-sluice-run-id';
export const NO_TOKEN = 'this address asks for its bearer token: send the header authorization: Bearer <token>';

/** A longer header holds no token of a trigger. */
const MAX_HEADER = 1_024;

export const isAuthorized = (
  trigger: EndpointTrigger | undefined,
  { headers: { authorization = '' } }: IncomingMessage,
): boolean => {
  if (!trigger?.admits) return true;
  const token = authorization.length > MAX_HEADER ? undefined : /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  return token !== undefined && trigger.admits(token);
};

/** A token that was checked is no part of the event. */
export const withoutToken = (
  trigger: EndpointTrigger | undefined,
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> => {
  if (!trigger?.admits) return headers;
  const { authorization: _checked, ...others } = headers;
  return others;
};

export const invocationOfTrigger = (
  topics: TopicPolicy,
  { id, name, admits }: EndpointTrigger,
  call: Omit<Parameters<typeof triggerInvocation>[1], 'workflowId'> & { readonly sourceId: string },
  parts: Parameters<typeof triggerInvocation>[2],
  notrigger: boolean,
): Invocation =>
  triggerInvocation(
    topics,
    { ...call, workflowId: call.sourceId },
    {
      ...parts,
      trigger: JSON.stringify({ type: 'http', id, name }),
      ...(admits ? ({ verified: '1' } as const) : {}),
      ...(notrigger ? ({ test: '1', notrigger: '1' } as const) : {}),
    },
  );

const SUCCESS: HttpReply = {
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8', 'access-control-allow-origin': '*' },
  body: '<p>Success</p>',
  base64: false,
};

export const replyAtOnce = ({ staticResponse }: EndpointTrigger): HttpReply =>
  staticResponse ? { ...staticResponse, base64: false } : SUCCESS;
