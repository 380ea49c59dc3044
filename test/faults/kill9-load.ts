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
}

export interface LoadPlan {
  readonly source: Source;
  readonly clients: number;
  /** Number of times that each id is posted, one after the other. */
  readonly times: number;
  /** Pause of a client after each answer. Default: none. */
  readonly pauseMs?: number;
}

/** A proxy's answer for a process that died. The event may or may not have been accepted. */
export const BAD_GATEWAY = 502;

/** Closed-loop clients that outlive the server. They wait at the gate while it is down. */
export class KillLoad {
  private readonly agent = new Agent({ connections: 32, headersTimeout: 60_000 });
  private readonly clients: Promise<void>[] = [];
  readonly ledgers: Ledger[] = [];
  private readonly failures: unknown[] = [];
  private stopping = false;

  constructor(
    private readonly server: Target,
    private readonly gate: Gate,
  ) {}

  start(plans: readonly LoadPlan[]): void {
    for (const { source, clients, times, pauseMs = 0 } of plans) {
      const ledger: Ledger = { source, sent: 0, refused: 0, acknowledged: new Set() };
      this.ledgers.push(ledger);
      for (let n = 0; n < clients; n++) {
        this.clients.push(
          this.client(ledger, times, pauseMs).catch((error: unknown) => void this.failures.push(error)),
        );
      }
    }
  }

  /** Waits for the last answers, so the server must be up. Rejects when a client got an unexpected one. */
  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.clients);
    if (this.failures.length > 0) throw this.failures[0];
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }

  /** Returns 0 when there was no answer. */
  async post(source: Source, id: number): Promise<number> {
    try {
      const reply = await request(endpointOf(this.server, source), {
        method: 'POST',
        dispatcher: this.agent,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id }),
      });
      await reply.body.dump();
      return reply.statusCode === BAD_GATEWAY ? 0 : reply.statusCode;
    } catch (error) {
      // The server was killed. As for a real client, the event may or may not have been accepted.
      if (types.isNativeError(error)) return 0;
      throw error;
    }
  }

  private async client(ledger: Ledger, times: number, pauseMs: number): Promise<void> {
    while (!this.stopping) {
      const id = ++ledger.sent;
      for (let n = 0; n < times; n++) {
        await this.gate.pass();
        const status = await this.post(ledger.source, id);
        if (status === 200) ledger.acknowledged.add(id);
        else if (status === 429 || status === 503) {
          ledger.refused++;
          await pause(50);
        } else if (status !== 0) throw new Error(`an event for ${ledger.source.name} was answered ${status}`);
        if (pauseMs > 0) await pause(pauseMs);
      }
    }
  }
}
