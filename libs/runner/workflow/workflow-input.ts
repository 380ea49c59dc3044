import { bodyRangeOf, wholeEvent } from '#libs/component-model/http-event.js';
import { type StepSend, type StepTrigger } from '#libs/component-model/step-run.js';
import { type Actor } from '#libs/kernel/events.js';
import { runIdOf } from '#libs/stream-log/invocations.js';
import { type RunOrigin } from '#libs/workflow-runs/run-facts.js';
import { type InputOf, type RunInput } from '#libs/workflow-runs/run-inputs.js';
import { type DbChanges } from '../outcome/db-draft.js';
import { type Input } from '../executable.js';
import { type Arriving, type Invocation, timeOf } from '../invocation.js';
import { replayArrival } from './replay-record.js';

/** What a workflow decides on. */
export type WorkflowInput = Input &
  (
    | {
        readonly of: 'run';
        readonly run: string;
        readonly input: RunInput;
        /** Messages of an outcome. */
        readonly sends?: readonly StepSend[];
        /** Workflows that it starts. */
        readonly triggers?: readonly StepTrigger[] | undefined;
        /** Changes of its `$.service.db`. */
        readonly dbChanges?: DbChanges | undefined;
        /** Whether the run begins only when no other of its trigger goes on. */
        readonly alone?: boolean;
      }
    /** Runs whose places in the throttle are durable, so that they may start. */
    | { readonly of: 'starts'; readonly runs: readonly string[]; readonly now: number }
    /** The settings have changed, or the window of the throttle is over. */
    | { readonly of: 'review'; readonly now: number }
    /** A repeat, or an invocation that changes no run. */
    | { readonly of: 'nothing' }
  );

export type Meaning =
  | { readonly of: 'run'; readonly run: string; readonly input: RunInput; readonly alone?: boolean }
  | { readonly of: 'nothing' };

/** Whether an invocation begins a run. */
export const isEvent = ({ headers: { kind } }: Invocation): boolean =>
  kind === 'http' || kind === 'timer' || kind === 'emit' || kind === 'manual';

/** What an invocation of a workflow's lane means. */
export const meaningOf = (invocation: Invocation, now: number): Meaning => {
  const { headers, record } = invocation;
  const { run, execution, by } = headers;
  const number = execution === undefined ? null : Number(execution);
  const actor = by === undefined ? null : (JSON.parse(by) as Actor);
  switch (headers.kind) {
    case 'http':
    case 'timer':
    case 'emit':
    case 'manual': {
      const alone = headers.alone === '1' ? { alone: true } : {};
      return { of: 'run', run: runIdOf(headers.id), input: arrivalOf(invocation, now), ...alone };
    }
    case 'alarm':
      if (run === undefined) return { of: 'nothing' };
      return {
        of: 'run',
        run,
        input: { type: 'alarm', now, execution: number ?? 0, dueAt: Number(headers.due) },
      };
    case 'resume':
      if (run === undefined) return { of: 'nothing' };
      return {
        of: 'run',
        run,
        input: {
          type: 'resume',
          now,
          execution: number,
          data: wholeEvent(record.value, bodyRangeOf(record.value, headers.body)),
          by: actor,
          request: headers.id,
        },
      };
    case 'cancel': {
      if (run === undefined) return { of: 'nothing' };
      const reason = number === null ? 'api' : 'cancel_url';
      const input = { type: 'cancel', now, execution: number, reason, by: actor, request: headers.id } as const;
      return { of: 'run', run, input };
    }
    case 'apphook':
    case 'hook':
    case 'settled':
    case 'delayed':
    case 'cancel_runs':
    case 'wake':
      return { of: 'nothing' };
  }
};

/** Those that come as calls of the API. */
const SOURCE_TYPES_OF_TRIGGERS: Readonly<Record<string, RunOrigin['sourceType']>> = {
  workflow: 'WORKFLOW',
  tool: 'TOOL',
};
const SOURCE_TYPES = { http: 'HTTP', timer: 'TIMER', emit: 'COMPONENT', manual: 'MANUAL' } as const;

/** What the event of an invocation begins. */
export const arrivalOf = (invocation: Arriving, now: number): InputOf<'arrive'> => {
  const { headers, record } = invocation;
  const { id, kind, source, workspace, hops, respond, replays } = headers;
  if (replays !== undefined) return replayArrival(invocation, replays, now);
  const run = runIdOf(id);
  const trigger =
    headers.trigger === undefined
      ? { type: 'event', id: headers.emitter ?? null, name: null }
      : (JSON.parse(headers.trigger) as RunOrigin['trigger']);
  const notrigger = headers.notrigger === '1';
  const test = headers.test === '1' || notrigger;
  return {
    type: 'arrive',
    now,
    place: test ? null : record.offset,
    event: wholeEvent(record.value, bodyRangeOf(record.value, headers.body)),
    reused: [],
    notrigger,
    origin: {
      id: run,
      workflowId: source,
      ownerId: workspace,
      trigger,
      sourceType: SOURCE_TYPES_OF_TRIGGERS[trigger.type] ?? SOURCE_TYPES[kind as keyof typeof SOURCE_TYPES],
      test,
      verified: headers.verified === '1',
      ...(headers.nostore === '1' ? { nostore: true as const } : {}),
      ...(headers.draft === undefined ? {} : { startsWith: headers.draft }),
      replayOf: null,
      replayFrom: null,
      replayedBy: null,
      keyRun: run,
      traceId: headers.trace ?? run,
      hops: Number(hops),
      arrivedAt: timeOf(invocation),
      hasCaller: respond !== '',
      ...(respond === '' ? {} : { caller: { address: respond, invocation: id } }),
    },
  };
};
