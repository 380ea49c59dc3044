import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { arrivedRun } from '#libs/runner/workflow/arrived-run.js';
import { replayRecord, type RunReplay } from '#libs/runner/workflow/replay-record.js';
import { ask, isDropped } from '#libs/stream-log/ask.js';
import { manualInvocation } from '#libs/stream-log/invocations.js';
import { EVENT_BYTES } from '#libs/stream-log/record-limits.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type Door } from './door.js';
import { mayEnter, mustFit } from './manual-runs.js';
import { type ResponseRelay } from './response-relay.js';

export interface WorkflowInvokesDependencies {
  readonly log: Pick<StreamLog, 'publish'>;
  readonly topics: TopicPolicy;
  readonly relay: ResponseRelay;
  readonly door: Door;
  readonly clock: Clock;
}

interface Call {
  readonly workflowId: string;
  readonly workspaceId: string;
  readonly event: unknown;
  readonly test: boolean;
  /** Id of the draft that a test runs. Null: it runs the version in force. */
  readonly draftId: string | null;
  /** Name of the `tool` trigger that is called. Absent: a user invokes the workflow. */
  readonly tool?: string;
  /** How long the caller waits for what `$.respond` gives. Undefined: it does not. */
  readonly waitMs: number | undefined;
  /** The same for every repeat of the request. Undefined for a request that is not repeated. */
  readonly repeatId: string | undefined;
}

const TRIGGER = JSON.stringify({ type: 'manual', id: null, name: null });

/** Publishes the events with which users invoke workflows and replay runs (docs/reference/workflows.md#invoke). */
export const workflowInvokes = ({ log, topics, relay, door, clock }: WorkflowInvokesDependencies) => ({
  async replay(replay: RunReplay, repeatId: string | undefined) {
    const { workflowId, ownerId: workspaceId, replayOf: id } = replay.origin;
    mayEnter(door, workflowId, workspaceId);
    mustFit(replay.event, EVENT_BYTES);
    const { replays, event } = replayRecord(replay);
    const now = clock.now();
    const invocation = manualInvocation(
      topics,
      { sourceId: workflowId, workspaceId, now, respond: '', event, repeatId },
      { replays },
    );
    const [offset] = await log.publish([invocation]);
    if (isDropped(offset)) throw new DomainError('run.not_found', `the workflow of run ${id} was deleted`, { id });
    door.stored?.(workflowId);
    return arrivedRun(invocation, now);
  },

  async invoke({ workflowId, workspaceId, event, test, draftId, tool, waitMs, repeatId }: Call) {
    mayEnter(door, workflowId, workspaceId);
    const text = JSON.stringify(event);
    mustFit(text, EVENT_BYTES);
    const now = clock.now();
    const respond = waitMs === undefined ? '' : relay.address;
    const call = { sourceId: workflowId, workspaceId, now, respond, event: text, repeatId };
    const ofDraft = draftId === null ? {} : { draft: draftId };
    const trigger = tool === undefined ? TRIGGER : JSON.stringify({ type: 'tool', id: null, name: tool });
    const parts = { trigger, ...(test ? ({ test: '1' } as const) : {}), ...ofDraft };
    const invocation = manualInvocation(topics, call, parts);
    const asked = await ask(log, invocation, {
      expect: async (id) => (waitMs === undefined ? undefined : relay.expect(id, waitMs)),
      cancel: (id) => relay.cancel(id),
    });
    if (!asked) throw new DomainError('workflow.not_found', `workflow ${workflowId} was deleted`, { id: workflowId });
    door.stored?.(workflowId);
    return { run: arrivedRun(invocation, now), answered: asked.answer };
  },
});
