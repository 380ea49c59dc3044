import { type HttpReply } from '#libs/component-model/run-output.js';
import { type RunOutcome } from './sandbox.js';

const json = (status: number, body: unknown): HttpReply => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(body),
  base64: false,
});

/**
 * Reply of an endpoint with customResponse after its run (docs/reference/component-model.md#respond-missing). The
 * caller may be anyone, so only the owner sees the error, on `$errors` under the id of the invocation.
 */
export const replyOf = (outcome: RunOutcome, invocationId: string): HttpReply => {
  if (outcome.response) return outcome.response;
  if (!outcome.error) return { status: 200, headers: {}, body: '', base64: false };
  const details = { invocation_id: invocationId };
  return outcome.error.code === 'Timeout'
    ? json(504, { error: 'the component behind this address did not answer in time', code: 'timeout', details })
    : json(500, { error: 'the component behind this address failed', code: 'run_failed', details });
};
