import { type HttpReply } from '#libs/component-model/run-output.js';
import { type RunOutcome } from './sandbox.js';

const json = (status: number, body: unknown): HttpReply => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(body),
  base64: false,
});

/** Reply of an endpoint with customResponse after its run (docs/reference/rest-api.md#endpoint-custom-response). */
export const replyOf = (outcome: RunOutcome): HttpReply => {
  if (outcome.response) return outcome.response;
  if (!outcome.error) return { status: 200, headers: {}, body: '', base64: false };
  if (outcome.error.code === 'Timeout') return json(504, { error: outcome.error.message, code: 'timeout' });
  return json(500, { error: `${outcome.error.name}: ${outcome.error.message}`, code: 'run_failed' });
};
