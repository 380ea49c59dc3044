import { type ServerResponse } from 'node:http';
import { isFraming } from '../sandbox/protocol/reply-headers.js';
import { type HttpReply } from '../component-model/run-output.js';

/** Statuses of responses without a body. */
const WITHOUT_BODY = new Set([204, 304]);

/**
 * Sends a component's response. The server does the framing, so framing headers of the response are left out.
 * Throws, before anything is sent, when Node refuses a header or the status.
 */
export const sendReply = (res: ServerResponse, reply: HttpReply, headOnly: boolean): void => {
  const body = Buffer.from(reply.body, reply.base64 ? 'base64' : 'utf8');
  for (const [name, value] of Object.entries(reply.headers)) {
    if (!isFraming(name)) res.setHeader(name, typeof value === 'string' ? value : [...value]);
  }
  // An informational status would announce another response, which never comes.
  res.statusCode = reply.status < 200 ? 200 : reply.status;
  if (WITHOUT_BODY.has(res.statusCode)) return void res.end();
  res.setHeader('content-length', body.length);
  res.end(headOnly ? undefined : body);
};
