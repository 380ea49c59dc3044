import { type AnsweredRequest, type SentRequest, TEST_LINE_BYTES } from '../protocol/test-link.js';
import { askGuard } from '../child/egress-socket.js';

/** Calls of a component's process to its test, over the socket that leads to the network in a server. */
export class TestLink {
  private socket: string | null = null;
  private unanswered = 0;

  /** True while the test has not answered a request. */
  get isWaiting(): boolean {
    return this.unanswered > 0;
  }

  open(socket: string | null): void {
    this.socket = socket;
  }

  /** Time of the test, in epoch milliseconds. */
  async now(): Promise<number> {
    return Number(await this.ask('NOW', ''));
  }

  /** Tells that the code has waited until this time. False when it may wait no longer. */
  async waitedUntil(at: number): Promise<boolean> {
    return (await this.ask('WAITED', String(at))) === 'more';
  }

  /** Tells that the code waits for nothing that can come. */
  async isStuck(): Promise<void> {
    await this.ask('STUCK', '');
  }

  /** Rejects with the error that the request fails with. */
  async request(request: SentRequest): Promise<AnsweredRequest> {
    this.unanswered++;
    try {
      return JSON.parse(await this.ask('REQUEST', JSON.stringify(request))) as AnsweredRequest;
    } finally {
      this.unanswered--;
    }
  }

  private ask(verb: string, rest: string): Promise<string> {
    if (this.socket === null) return Promise.reject(new Error('this process has no test'));
    return askGuard(this.socket, `${verb} ${rest}`, TEST_LINE_BYTES);
  }
}
