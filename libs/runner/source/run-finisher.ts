import { bodyRangeOf, wholeEvent } from '#libs/component-model/http-event.js';
import { type RunOutcome } from '#libs/sandbox/index.js';
import { type SourceDefinition } from '#libs/sources/published.js';
import { type InFlightInvocations } from '../in-flight-invocations.js';
import { type Invocation, timeOf } from '../invocation.js';
import { type Finished } from './run-commit.js';
import { delayedOutcome } from './platform-outcomes.js';
import { type RunCommitter } from './run-committer.js';
import { warnedOfReply } from '../outcome/reply-warnings.js';
import { executionOf, noEvent } from './run-result.js';
import { type SourceRunnerDependencies } from '../runner-ports.js';
import { toldEmits } from './told-emits.js';
import { type SourceProcess } from './source-process.js';

export interface RunFinisherOptions {
  readonly sourceId: string;
  readonly deps: Pick<SourceRunnerDependencies, 'hostDeaths' | 'metrics' | 'replies' | 'clock'>;
  readonly committer: Pick<RunCommitter, 'push' | 'abandonedFor'>;
  readonly process: Pick<SourceProcess, 'mask'>;
  readonly invocations: InFlightInvocations;
}

/** Finishes invocations of one source: commits the output of their runs, then answers and acknowledges them. */
export class RunFinisher {
  constructor(private readonly options: RunFinisherOptions) {}

  finish(invocation: Invocation, definition: SourceDefinition, workspaceId: string, left: RunOutcome): void {
    const { sourceId, deps, committer, process } = this.options;
    const { headers, record } = invocation;
    const abandoned = (): void => deps.hostDeaths.end(headers.id);
    // This runner has stopped for the source. The invocation is not acknowledged, so the next runner runs it again.
    if (committer.abandonedFor) {
      left.held?.release();
      return abandoned();
    }
    const { mask } = process;
    const outcome = warnedOfReply(mask.outcome(left), headers);
    const execution = {
      ...executionOf(sourceId, headers.id, definition, workspaceId, timeOf(invocation)),
      event: () => mask.json(wholeEvent(record.value, bodyRangeOf(record.value, headers.body))),
      hops: Number(headers.hops),
      ...(headers.nostore === '1' ? { nostore: true as const } : {}),
      ...(headers.replay === undefined ? {} : { replay: true as const }),
    };
    deps.metrics.run(outcome.status, workspaceId, outcome.endedAt - outcome.startedAt);
    const committed = (dropped: ReadonlySet<object>): void => {
      const { respond, id, kind } = headers;
      if (respond !== '' && kind === 'http') deps.replies.ended(respond, id, outcome, 'reply');
      else if (respond !== '')
        deps.replies.ended(respond, id, { ...outcome, told: toldEmits(outcome.emits, dropped) }, 'outcome');
      this.acknowledge(invocation);
    };
    const attempts = 1 + deps.hostDeaths.deathsOf(headers.id);
    committer.push({ execution, outcome, invocation, attempts, committed, abandoned });
  }

  /** Emits a delayed event that is due, or a test event of an endpoint, without a run. */
  finishDelayed(invocation: Invocation): void {
    const { sourceId, committer, deps } = this.options;
    const { headers } = invocation;
    const { id, workspace: workspaceId, emit, hops, test, nostore, notrigger, invocation: emittedBy } = headers;
    const common = { id, sourceId, componentId: '', workspaceId, event: noEvent, hops: Number(hops), emits: true };
    const execution = {
      ...common,
      released: emit ?? '',
      ...(emittedBy === undefined ? {} : { emittedBy }),
      ...(test === '1' ? { test: true as const } : {}),
      ...(nostore === '1' ? { nostore: true as const } : {}),
      ...(notrigger === '1' ? { notrigger: true as const } : {}),
    };
    const outcome = delayedOutcome(invocation, deps.clock.now());
    committer.push({ execution, outcome, invocation, committed: () => this.acknowledge(invocation) });
  }

  /** Finishes an invocation that needs no run. */
  finishWithoutRun(invocation: Invocation): void {
    this.options.committer.push(this.nothing(invocation));
  }

  /** Finishes a repeat of an invocation that is done or in flight. Only the first one makes its id known as done. */
  finishRepeat(invocation: Invocation): void {
    const committed = (): void => this.settle(invocation);
    this.options.committer.push({ ...this.nothing(invocation), repeat: true, committed });
  }

  /** Acknowledges an invocation whose results are durable. */
  acknowledge(invocation: Invocation): void {
    this.options.deps.hostDeaths.end(invocation.headers.id);
    this.settle(invocation);
  }

  private settle(invocation: Invocation): void {
    this.options.invocations.remove(invocation);
    invocation.ack();
  }

  private nothing(invocation: Invocation): Finished {
    const none = { componentId: '', workspaceId: '', event: noEvent, hops: 0, emits: false };
    const execution = { id: invocation.headers.id, sourceId: this.options.sourceId, ...none };
    return { execution, outcome: undefined, invocation, committed: () => this.acknowledge(invocation) };
  }
}
