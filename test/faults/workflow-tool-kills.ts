import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type ApiClient, UnexpectedReply } from '#test/harness/api-client.js';
import { type RoundsGoOn, untilAnswered } from './repeated-requests.js';
import { type RunRecord, valueOf } from './workflow-kills-checks.js';

/** Of a caller after each call. */
const REST_MS = 50;

interface Answer {
  readonly error?: unknown;
  readonly result?: {
    readonly isError?: boolean;
    readonly content: readonly unknown[];
    readonly structuredContent?: { readonly run_id: string; readonly state: string; readonly result?: unknown };
  };
}

interface Called {
  /** Of the first answer that came. Undefined for a call that only a repeat knows to be stored. */
  readonly answer: Answer | undefined;
}

/** Calls of the tool of one workflow, whose server is killed while they wait for their runs. */
export class ToolCalls {
  private readonly called = new Map<number, Called>();
  /** Calls without an answer when the rounds ended. */
  private readonly unanswered = new Set<number>();
  private readonly repeating: Promise<void>[] = [];
  private readonly failures: string[] = [];
  private next = 0;

  constructor(
    private readonly api: ApiClient,
    private readonly tool: string,
    private readonly rounds: RoundsGoOn,
  ) {}

  get count(): number {
    return this.called.size;
  }

  /** Calls the tool once. Without an answer, the request is repeated with its key beside further calls. */
  async call(): Promise<void> {
    const n = ++this.next;
    const headers = { accept: 'application/json, text/event-stream', 'idempotency-key': randomUUID() };
    const params = { name: this.tool, arguments: { n } };
    const body = { jsonrpc: '2.0', id: n, method: 'tools/call', params };
    const ask = async (): Promise<Called | undefined> => {
      const reply = await this.api.call<Answer>('POST', '/mcp', { body, headers });
      if (reply.status === 200) return { answer: reply.body };
      // The tool has run, and its answer was lost.
      if (reply.status === 409 && reply.text.includes('reply_not_kept')) return { answer: undefined };
      if (reply.status === 409 || reply.status === 429 || reply.status >= 500) return undefined;
      throw new UnexpectedReply('a call of a tool', reply);
    };
    this.unanswered.add(n);
    const first = await ask().catch((error: unknown) => {
      if (error instanceof UnexpectedReply) throw error;
      return undefined;
    });
    if (first) this.keep(n, first);
    else this.repeating.push(this.repeat(n, ask));
    await pause(REST_MS);
  }

  /** Resolves once every call has an answer. */
  async ended(): Promise<void> {
    await Promise.all(this.repeating);
  }

  /** What is wrong with the runs of the tool, of which each call must have begun one. */
  problemsOf(records: readonly RunRecord[]): readonly string[] {
    const runs = new Map<number, RunRecord[]>();
    for (const run of records) {
      const { n } = run.event as { readonly n: number };
      runs.set(n, [...(runs.get(n) ?? []), run]);
    }
    const problems = [...this.called].flatMap(([n, { answer }]) => {
      const [run, ...others] = runs.get(n) ?? [];
      if (!run || others.length > 0)
        return [`call ${n} began ${runs.get(n)?.length ?? 0} runs: ${JSON.stringify(answer)}`];
      return answer && !isAnswerOf(answer, run) ? [`${run.id} was answered by ${JSON.stringify(answer)}`] : [];
    });
    const twice = [...runs].filter(([n, begun]) => this.unanswered.has(n) && begun.length > 1);
    return [...this.failures, ...problems, ...twice.map(([n, begun]) => `call ${n} began ${begun.length} runs`)];
  }

  private async repeat(n: number, ask: () => Promise<Called | undefined>): Promise<void> {
    try {
      const called = await untilAnswered(this.rounds, ask);
      if (called) this.keep(n, called);
    } catch (error) {
      this.failures.push(String(error));
    }
  }

  private keep(n: number, called: Called): void {
    this.called.set(n, called);
    this.unanswered.delete(n);
  }
}

/** A run that had not ended is told without its result. */
const isAnswerOf = ({ result }: Answer, run: RunRecord): boolean => {
  const told = result?.structuredContent;
  const last = run.steps.at(-1);
  if (result?.isError === true || told?.run_id !== run.id) return false;
  return told.state !== 'succeeded' || isDeepStrictEqual(told.result, last && valueOf(last));
};
