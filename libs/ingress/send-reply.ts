import { type ServerResponse } from 'node:http';
import { isFraming } from '#libs/sandbox/index.js';
import { endpointReply } from '#libs/component-model/endpoint-reply.js';
import { type HttpReply } from '#libs/component-model/run-output.js';

/** Statuses of responses without a body. */
const WITHOUT_BODY = new Set([204, 304]);

/**
 * Sends a component's response. The server does the framing, so framing headers of the response are left out, and so is
 * what would reach beyond the endpoint (docs/reference/component-model.md#endpoint-confined).
 * Throws, before anything is sent, when Node refuses a header or the status.
 *
 * @param base path of the endpoint below the origin of the API; null for an endpoint with a domain of its own.
 */
export const sendReply = (res: ServerResponse, reply: HttpReply, headOnly: boolean, base: string | null): void => {
  const body = Buffer.from(reply.body, reply.base64 ? 'base64' : 'utf8');
  for (const [name, value] of Object.entries(endpointReply(reply.headers, base).headers)) {
    if (!isFraming(name)) res.setHeader(name, value);
  }
  // An informational status would announce another response, which never comes.
  res.statusCode = reply.status < 200 ? 200 : reply.status;
  if (WITHOUT_BODY.has(res.statusCode)) return void res.end();
  res.setHeader('content-length', body.length);
  res.end(headOnly ? undefined : body);
};
