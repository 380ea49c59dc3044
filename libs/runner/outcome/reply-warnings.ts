import { endpointReply } from '#libs/component-model/endpoint-reply.js';
import { WARNING } from '#libs/component-model/run-output.js';
import { SAMPLE_EMIT, type ProcessCall } from '#libs/component-model/hooks.js';
import { type RunOutcome } from '#libs/sandbox/index.js';
import { type InvocationHeaders } from '#libs/stream-log/envelopes.js';

/** What an invocation says about the reply to it. */
type AnsweredHeaders = Pick<InvocationHeaders, 'kind' | 'respond' | 'confined'>;

const CALL = 'this.<prop>.respond({ status, headers, body })';

/**
 * Adds a line for `$logs` when a run owed a reply and did not send one, or when the server leaves out a part of the
 * reply (docs/reference/component-model.md#warning-replies). Each run adds at most one line, of bounded length.
 */
export const warnedOfReply = (outcome: RunOutcome, { kind, respond, confined }: AnsweredHeaders): RunOutcome => {
  if (outcome.response) {
    if (kind !== 'http') return warned(outcome, nobodyWaits(`a run of kind "${kind}"`));
    if (respond === '') return warned(outcome, ANSWERED_BEFORE);
    const { leftOut } = endpointReply(outcome.response.headers, confined === '1' ? '/h/key' : null);
    return leftOut.length === 0 ? outcome : warned(outcome, leftOutOfReply(leftOut));
  }
  return kind === 'http' && respond !== '' && outcome.status === 'ok' ? warned(outcome, NEVER_SENT) : outcome;
};

/** Adds a line for `$logs` when a hook or `sampleEmit` replied. */
export const warnedOfHookReply = (outcome: RunOutcome, call: ProcessCall): RunOutcome =>
  outcome.response ? warned(outcome, nobodyWaits(call === SAMPLE_EMIT ? 'sampleEmit' : `the hook ${call}`)) : outcome;

const nobodyWaits = (where: string): string =>
  `respond was called in ${where}, where no caller waits, so its reply is dropped. Call it only for events of the endpoint`;

const ANSWERED_BEFORE =
  'respond was called, but the prop lacks customResponse: true, so the caller had got 200 {"success":true} before the run. ' +
  'Declare { type: "$.interface.http", customResponse: true }';

const NEVER_SENT =
  `the prop has customResponse: true and the run ended without respond, so the caller got 200 without a body. ` +
  `Call ${CALL} in run, or leave customResponse out`;

const SHOWN = 10;

const leftOutOfReply = (all: readonly string[]): string => {
  const shown = all.slice(0, SHOWN).map((each) => each.slice(0, 200));
  if (all.length > SHOWN) shown.push(`${all.length - SHOWN} more`);
  return (
    `respond: left out of the reply: ${shown.join(', ')}. It would be in force beyond this endpoint, for the whole server. ` +
    'See #endpoint-confined in docs/reference/component-model.md; an endpoint with a domain of its own (SLUICE_ENDPOINT_DOMAIN) may send it'
  );
};

const warned = (outcome: RunOutcome, msg: string): RunOutcome => ({
  ...outcome,
  logs: [...outcome.logs, { k: WARNING, ts: outcome.endedAt, msg }],
});
