import { type HttpReply } from '#libs/component-model/run-output.js';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Actor } from '#libs/kernel/events.js';
import { ask } from '#libs/stream-log/ask.js';
import { steeringInvocation } from '#libs/stream-log/invocations.js';
import { bytesAbove, EVENT_BYTES } from '#libs/stream-log/record-limits.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type SteeringAnswer } from '#libs/workflow-runs/run-steering.js';
import { type SteeredRun } from './run-turn.js';

/** Longest wait for the answer, because the lane may be moving from a dead runner to another. */
const ANSWER_MS = 30_000;

export interface SteeringOverLogDependencies {
  readonly log: Pick<StreamLog, 'publish'>;
  readonly topics: TopicPolicy;
  /** Awaits answers in this process, as a ResponseRelay does. */
  readonly relay: {
    readonly address: string;
    /** Resolves with undefined after `timeoutMs` or when cancelled. */
    expect(invocationId: string, timeoutMs: number): Promise<HttpReply | undefined>;
    cancel(invocationId: string): void;
  };
  readonly clock: Clock;
}

type SteeringCall = Omit<Parameters<typeof steeringInvocation>[1], 'now' | 'respond'>;

/**
 * Cancels or resumes a run in the process that runs its workflow, over the workflow's own lane. Resolves once the request
 * is durable, with undefined when the workflow was deleted. `answer` resolves once what the request did is durable, or
 * with undefined after `answerMs`.
 */
export const askRunner = async (
  { log, topics, relay, clock }: SteeringOverLogDependencies,
  call: SteeringCall,
  answerMs: number,
): Promise<{ readonly answer: Promise<SteeringAnswer | undefined> } | undefined> => {
  const asked = await ask(log, steeringInvocation(topics, { ...call, now: clock.now(), respond: relay.address }), {
    expect: (id) => relay.expect(id, answerMs),
    cancel: (id) => relay.cancel(id),
  });
  const answer = asked?.answer.then((reply) => reply && (JSON.parse(reply.body) as SteeringAnswer));
  return answer && { answer };
};

interface SteeringRequest {
  readonly workflowId: string;
  readonly workspaceId: string;
  readonly runId: string;
  readonly by: Actor;
  readonly change: { readonly kind: 'cancel' } | { readonly kind: 'resume'; readonly data: unknown };
}

/** Implemented by the view of workflows. */
interface KnownWorkflows {
  /** Undefined for a workflow that is unknown or deleted. */
  find(workflowId: string): object | undefined;
  /** Calls the listener after each event of a workflow, also after its last one. Returns how to unsubscribe. */
  onChange(listener: (workflowId: string) => void): () => void;
}

/** Cancels and resumes runs for users of the API. */
export const steeringOverLog = (deps: SteeringOverLogDependencies & { readonly workflows: KnownWorkflows }) => ({
  /** Resolves once what the request did is durable. */
  async steer({ change, ...request }: SteeringRequest): Promise<SteeringAnswer> {
    const value = change.kind === 'resume' ? resumeData(change.data) : 'null';
    const { runId: id, workflowId } = request;
    const deletion = deletionOf(workflowId, deps.workflows);
    const answer = await (async () => {
      try {
        const asked = await askRunner(deps, { ...request, kind: change.kind, value }, ANSWER_MS);
        return asked === undefined ? 'deleted' : await Promise.race([asked.answer, deletion.made]);
      } finally {
        deletion.unsubscribe();
      }
    })();
    if (answer === 'deleted') throw new DomainError('run.not_found', `the workflow of run ${id} was deleted`, { id });
    if (answer) return answer;
    throw new DomainError(
      'platform.unavailable',
      `the request to ${change.kind} run ${id} was not answered within ${ANSWER_MS / 1_000} s, and may still be done: ` +
        'check that a runner is ready (/readyz), and read the run before you try again',
      { run_id: id, waited_ms: ANSWER_MS },
    );
  },
});

/**
 * A lane that is deleted together with a request in it answers nothing. A workflow that this process does not know yet
 * is not watched.
 */
const deletionOf = (workflowId: string, workflows: KnownWorkflows) => {
  let unsubscribe = (): void => undefined;
  const made = new Promise<'deleted'>((resolve) => {
    if (workflows.find(workflowId) === undefined) return;
    unsubscribe = workflows.onChange((id) => {
      if (id === workflowId && workflows.find(id) === undefined) resolve('deleted');
    });
  });
  return { made, unsubscribe };
};

/** The answer to a request, as the reply channel carries it. */
export const steeringReply = ({ draft, result }: SteeredRun): HttpReply => {
  const answer: SteeringAnswer = { result, version: draft.changed ? draft.version + 1 : draft.version };
  return { status: 200, headers: {}, body: JSON.stringify(answer), base64: false };
};

/** Data of the API in the shape of an HTTP event. */
const resumeData = (data: unknown): string => {
  const event = { method: 'POST', path: '/', query: {}, client_ip: '', url: '', headers: {}, body: data ?? null };
  const text = JSON.stringify(event);
  const actual = bytesAbove(text, EVENT_BYTES);
  if (actual === undefined) return text;
  throw new DomainError('request.too_large', `the data has ${actual} bytes, the limit is ${EVENT_BYTES}: send less`, {
    limit: EVENT_BYTES,
    actual,
  });
};
