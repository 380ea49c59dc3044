import { setTimeout as pause } from 'node:timers/promises';
import { types } from 'node:util';
import { Agent, request } from 'undici';
import { endpointOf, type Source, type Target } from '#test/harness/api-client.js';

/** A gate that is open while the server is up. */
export class Gate {
  private isOpen = false;
  private waiting: (() => void)[] = [];

  open(): void {
    this.isOpen = true;
    this.waiting.splice(0).forEach((go) => go());
  }

  shut(): void {
    this.isOpen = false;
  }

  pass(): Promise<void> {
    return this.isOpen ? Promise.resolve() : new Promise((resolve) => this.waiting.push(resolve));
  }
}

/** Knowledge of one source's client: the ids that were answered 200. Other ids may or may not have been accepted. */
export interface Ledger {
  readonly source: Source;
  sent: number;
  refused: number;
  readonly acknowledged: Set<number>;
  /** Answers that no fault explains, with how often each came. */
  readonly unexpected: Map<string, number>;
}

export const emptyLedger = (source: Source): Ledger => ({
  source,
  sent: 0,
  refused: 0,
  acknowledged: new Set(),
  unexpected: new Map(),
});

export interface LoadPlan {
  readonly source: Source;
  readonly clients: number;
  /** Number of times that each id is posted, one after the other. */
  readonly times: number;
  /** Pause of a client after each answer. Default: none. */
  readonly pauseMs?: number;
  /** The source answers itself, with what it was sent. */
  readonly responds?: boolean;
}

/** A proxy's answer for a process that died. The event may or may not have been accepted. */
export const BAD_GATEWAY = 502;
/** The component did not respond in time, and the event is stored (docs/reference/limits.md#respond-wait). */
const LATE = 504;

/** Closed-loop clients that outlive the server. They wait at the gate while it is down. */
export class KillLoad {
  private readonly agent = new Agent({ connections: 32, headersTimeout: 60_000 });
  private readonly clients: Promise<void>[] = [];
  readonly ledgers: Ledger[] = [];
  /** Requests without an answer, of which each may or may not have been accepted. */
  unanswered = 0;
  /** Callers that waited in vain for a response to a stored event. */
  late = 0;
  private readonly failures: unknown[] = [];
  private stopping = false;

  constructor(
    private readonly server: Target,
    private readonly gate: Gate,
  ) {}

  start(plans: readonly LoadPlan[]): void {
    for (const plan of plans) {
      const ledger: Ledger = emptyLedger(plan.source);
      this.ledgers.push(ledger);
      for (let n = 0; n < plan.clients; n++) {
        this.clients.push(this.client(ledger, plan).catch((error: unknown) => void this.failures.push(error)));
      }
    }
  }

  /** Waits for the last answers, so the server must be up. Rejects when a client failed. */
  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.clients);
    if (this.failures.length > 0) throw this.failures[0];
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }

  /** Returns the status, 0 when there was no answer. */
  async post(source: Source, id: number): Promise<number> {
    return (await this.exchange(source, id)).status;
  }

  private async exchange(source: Source, id: number): Promise<{ readonly status: number; readonly text: string }> {
    try {
      const reply = await request(endpointOf(this.server, source), {
        method: 'POST',
        dispatcher: this.agent,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id }),
      });
      const text = await reply.body.text();
      return { status: reply.statusCode === BAD_GATEWAY ? 0 : reply.statusCode, text };
    } catch (error) {
      // The server was killed. As for a real client, the event may or may not have been accepted.
      if (types.isNativeError(error)) return { status: 0, text: '' };
      throw error;
    }
  }

  private async client(ledger: Ledger, { source, times, pauseMs = 0, responds = false }: LoadPlan): Promise<void> {
    while (!this.stopping) {
      const id = ++ledger.sent;
      for (let n = 0; n < times; n++) {
        await this.gate.pass();
        const { status, text } = await this.exchange(source, id);
        const isLate = responds && status === LATE;
        const isAnswer = status === 200 && (!responds || text === JSON.stringify({ id }));
        if (isAnswer || isLate) ledger.acknowledged.add(id);
        if (isLate) this.late++;
        else if (status === 0) this.unanswered++;
        else if (status === 429 || status === 503) {
          ledger.refused++;
          await pause(50);
        } else if (!isAnswer) {
          const answer = `${status} ${text.slice(0, 200)}`;
          ledger.unexpected.set(answer, (ledger.unexpected.get(answer) ?? 0) + 1);
        }
        if (pauseMs > 0) await pause(pauseMs);
      }
    }
  }
}
