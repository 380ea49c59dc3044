import { type Context } from '../context.js';
import { Follower } from '../follow/follower.js';
import { Forward, sentLine } from '../follow/forward.js';
import { type Session } from '../session.js';
import { harmless } from '../text.js';
import { type Report } from './report.js';
import { Runs } from './runs.js';

/** The source that is watched, and where its events go. */
export interface Watched {
  readonly context: Context;
  readonly session: Session;
  readonly report: Report;
  readonly sourceId: string;
  readonly workspaceId: string;
  /** Address that each event is posted to. */
  readonly forward: string | undefined;
  readonly signal: AbortSignal;
}

/** Tells what happens to a source, over lost connections. */
export class Live {
  private readonly follower: Follower;
  private readonly runs: Runs;
  private readonly sent: Forward | undefined;

  constructor(watched: Watched) {
    const { context, session, report, sourceId, workspaceId, forward, signal } = watched;
    const tell = (text: string): void => context.io.err(harmless(text));
    if (forward !== undefined)
      this.sent = new Forward(forward, (sent) => report.tell('forwarded', { ...sent }, [sentLine(sent)]), signal);
    if (this.sent) tell(`Signed with ${this.sent.key}`);
    const runs = { streams: 'invocations', emitter_id: sourceId };
    const query = this.sent ? { ...runs, streams: 'invocations,events', event_name: '*', expand: 'event' } : runs;
    this.follower = new Follower({ open: (...at) => session.stream(workspaceId, query, ...at), tell, signal });
    this.runs = new Runs(session, report, sourceId, signal);
  }

  /** What happens from now on is told. Rejects with CommandFailure. */
  async connect(): Promise<void> {
    await this.follower.connect();
    await this.runs.begin();
  }

  /** Resolves after the signal. Rejects when the server refuses the stream. */
  async follow(): Promise<void> {
    for await (const { name, data } of this.follower.records()) {
      if (name === 'invocations') await this.runs.tell(data);
      else await this.sent?.send(data);
    }
  }
}
