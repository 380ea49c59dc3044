import { type ProcessCall } from '#libs/component-model/hooks.js';
import { type Clock } from '#libs/kernel/clock.js';
import { MAX_BATCH, MB, type SentRun } from '../protocol/protocol.js';
import { type BoundCall, type CallListener, type RunOutcome } from '../sandbox.js';
import { type ChildChannel } from './child-channel.js';
import { RunCollector } from './run-collector.js';
import { type RunWatchdog } from './run-watchdog.js';
import { type MemoryAccount } from './runs-memory.js';
import { type SentRuns } from './sent-runs.js';
import { storesOf } from './store-calls.js';
import { type UnsentRun, UnsentRuns } from './unsent-runs.js';

const MAX_FRAME_BYTES = MB;

export interface RunSenderOptions {
  readonly sent: SentRuns;
  readonly channel: ChildChannel;
  readonly watchdog: RunWatchdog;
  readonly account: MemoryAccount;
  readonly clock: Clock;
  readonly alive: () => boolean;
}

export interface AskedCall {
  readonly call: BoundCall;
  readonly bundle: number;
  readonly timeoutMs: number;
  readonly listener: CallListener;
}

/** The call as JSON. The text of `steps`, which may have 6 MB, is apart, so that nothing here writes it as JSON again. */
const textsOf = (bound: BoundCall): { readonly text: string; readonly steps: string } => {
  const { call } = bound;
  if (call.kind !== 'step') return { text: JSON.stringify(bound), steps: '' };
  const { steps, ...facts } = call.facts;
  return { text: JSON.stringify({ ...bound, call: { ...call, facts } }), steps };
};

/** Sends runs to the child in frames, as long as its window and the memory budget have room. */
export class RunSender {
  private readonly unsent = new UnsentRuns();
  private planned = false;

  constructor(private readonly options: RunSenderOptions) {}

  /** Queues a run. Runs queued in one turn of the event loop go in one frame. */
  enqueue(run: UnsentRun): void {
    this.unsent.push(run);
    this.plan();
  }

  /** Removes and returns the runs that were not sent, in order. */
  clear(): UnsentRun[] {
    return this.unsent.clear();
  }

  /** Sends at the end of this turn of the event loop. */
  plan(): void {
    if (this.planned) return;
    this.planned = true;
    setImmediate(() => {
      this.planned = false;
      this.send();
    });
  }

  /** Sends as many frames as there is room for. */
  send(): void {
    const { alive, sent, account } = this.options;
    while (alive() && this.unsent.size > 0 && sent.hasRoom() && account.maySend()) this.sendFrame();
  }

  /** Sends a hook at once. It resolves or rejects as a run does. */
  sendHook(
    hook: ProcessCall,
    timeoutMs: number,
    resolve: (outcome: RunOutcome) => void,
    reject: (reason: Error) => void,
  ): void {
    const { sent, channel, watchdog, clock } = this.options;
    const n = sent.nextNumber();
    sent.add(
      new RunCollector({
        n,
        invocationId: `hook ${hook}`,
        timeoutMs,
        sentAt: clock.now(),
        work: 'hook',
        eventBytes: 0,
        resolve,
        reject,
      }),
    );
    channel.send({ t: 'hook', n, hook });
    watchdog.watch();
  }

  /** Sends a call at once. It resolves or rejects as a run does. */
  sendCall(
    { call, bundle, timeoutMs, listener }: AskedCall,
    resolve: (outcome: RunOutcome) => void,
    reject: (reason: Error) => void,
  ): void {
    const { sent, channel, watchdog, account, clock } = this.options;
    const n = sent.nextNumber();
    const { text, steps } = textsOf(call);
    const stepsBytes = Buffer.byteLength(steps);
    const eventBytes = Buffer.byteLength(text) + stepsBytes;
    account.hold(eventBytes);
    const sentAt = clock.now();
    const run = new RunCollector({
      n,
      invocationId: 'the call',
      timeoutMs,
      sentAt,
      work: call.call.kind,
      stores: storesOf(call.props),
      eventBytes,
      resolve,
      reject,
      onImmediateResponse: listener.onReply,
      onTrigger: listener.onTrigger,
      onLine: listener.onLine,
      answerTrigger: (id, answer) => {
        // A call may also come from the spill file of a process that has ended.
        if (!this.options.alive()) return;
        if ('error' in answer) channel.send({ t: 'triggered', n, id, error: answer.error });
        else channel.send({ t: 'triggered', n, id }, [answer.runId]);
      },
      ...(call.call.kind === 'step' ? { refresh: call.call.facts } : {}),
    });
    sent.add(run);
    channel.send({ t: 'ask', n, bundle, stepsBytes }, [text, steps]);
    watchdog.watch();
    const { signal } = listener;
    const cancel = (): void => run.cancel(clock.now());
    if (signal?.aborted) cancel();
    else signal?.addEventListener('abort', cancel, { once: true });
  }

  private sendFrame(): void {
    const { sent, channel, watchdog, account, clock } = this.options;
    const now = clock.now();
    const runs: SentRun[] = [];
    const texts: string[] = [];
    let bytes = 0;
    while (runs.length < MAX_BATCH && bytes < MAX_FRAME_BYTES) {
      const unsent = this.unsent.shift();
      if (!unsent) break;
      const { request, resolve, reject } = unsent;
      const n = sent.nextNumber();
      const { event, body } = request;
      const length = Buffer.byteLength(event);
      runs.push(body === undefined ? [n, length] : [n, length, body.start, body.end]);
      texts.push(event);
      bytes += length;
      account.hold(length);
      sent.add(
        new RunCollector({
          n,
          invocationId: request.invocationId,
          timeoutMs: request.timeoutMs,
          sentAt: now,
          work: 'run',
          eventBytes: length,
          resolve,
          reject,
          onImmediateResponse: request.onImmediateResponse,
        }),
      );
    }
    channel.send({ t: 'run', runs }, texts);
    watchdog.watch();
  }
}
