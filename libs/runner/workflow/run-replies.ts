import { type HttpReply } from '#libs/component-model/run-output.js';
import { PARTS, hasEnded, originOf, runErrorOf } from '#libs/workflow-runs/run-state.js';
import { LIMIT_ERRORS } from '#libs/workflow-runs/run-limits.js';
import { type RunDraft } from './run-book.js';

const text = (body: string): HttpReply => ({
  status: 400,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
  base64: false,
});

const QUEUE_FULL: HttpReply = {
  status: 503,
  headers: { 'content-type': 'application/json', 'retry-after': '1' },
  body: JSON.stringify({ error: 'as many runs of this workflow wait as may: send it later', code: 'queue_full' }),
  base64: false,
};

/**
 * What the caller of a run gets after a commit (docs/reference/workflows.md#http-replies). Undefined when nobody waits,
 * or nothing is known yet. Whoever got one before no longer waits, so that a second changes nothing.
 */
export const replyAfter = ({ before, state }: RunDraft): HttpReply | undefined => {
  const { head, parts } = state;
  const isOver = hasEnded(state) && !hasEnded(before);
  const pauses = head.wait !== null && head.wait.kind !== 'retry';
  if (!originOf(state).caller || !(isOver || pauses)) return undefined;
  const given = parts[PARTS.reply];
  if (given !== undefined) return JSON.parse(given) as HttpReply;
  if (runErrorOf(state)?.code === LIMIT_ERRORS.queue) return QUEUE_FULL;
  return text(isOver ? 'No $.respond called in workflow' : '$.respond() not called for this invocation');
};
