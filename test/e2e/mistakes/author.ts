import { type ErrorBody, type Source } from '#test/harness/api-client.js';
import { endpointOf } from '#test/harness/api-client.js';
import { send } from '#test/harness/http.js';
import { type Instance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

interface Deployed {
  readonly data?: Source;
  readonly warnings?: readonly { readonly message: string }[];
}

export interface Attempt {
  /** Further fields of the body of POST /v1/sources. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Body posted to the endpoint of prop `http` once the source is deployed. */
  readonly post?: unknown;
  /** Channel that the author then reads. */
  readonly channel?: '$errors' | '$logs';
  /** Number of lines on the channel to wait for. */
  readonly lines?: number;
}

interface Told {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: Told;
  readonly errors?: readonly Told[];
}
interface ErrorRecord {
  readonly error: Told;
}
interface LogRecord {
  readonly k: string;
  readonly msg?: string;
  readonly err?: { readonly message: string };
}

/** Deploys code and returns what its author reads: the answer, or the lines on a channel after one event. */
export class Author {
  constructor(private readonly instance: Instance) {}

  async reads(code: string, attempt: Attempt = {}): Promise<string> {
    const reply = await this.instance.api.call<Deployed & ErrorBody & { observations?: readonly unknown[] }>(
      'POST',
      '/v1/sources',
      { body: { component_code: code, ...attempt.body } },
    );
    if (reply.status !== 200) return [`${reply.status} ${reply.body.error}`, ...hookErrors(reply.body)].join('\n');
    const { data: source, warnings = [] } = reply.body;
    if (!source) throw new Error(reply.text);
    try {
      const told = warnings.map(({ message }) => `warning: ${message}`);
      if (attempt.post !== undefined) {
        const answer = await send(endpointOf(this.instance.server, source), { body: attempt.post });
        if (answer.status >= 400) told.push(`endpoint: ${answer.status} ${answer.text}`);
      }
      if (attempt.channel) told.push(...(await this.lines(source, attempt.channel, attempt.lines ?? 1)));
      return told.join('\n');
    } finally {
      await this.instance.api.call('DELETE', `/v1/sources/${source.id}`, { query: { ignore_hook_errors: 'true' } });
    }
  }

  private lines(source: Source, channel: '$errors' | '$logs', count: number): Promise<readonly string[]> {
    return eventually(
      `${count} lines on ${channel}`,
      async () => {
        const { data } = await this.instance.api.summaries(source.id, { expand: 'event', event_name: channel });
        if (data.length < count) return undefined;
        return data
          .map(({ event }) => (channel === '$errors' ? errorLine(event as ErrorRecord) : logLine(event as LogRecord)))
          .reverse();
      },
      30_000,
    );
  }
}

const errorLine = ({ error }: ErrorRecord): string => `$errors: ${textOf(error)}`;

/** Name, message and first frame, then the causes: what an author reads first. */
const textOf = (error: Told): string => {
  const frame = (error.stack ?? '').split('\n').find((line) => line.startsWith('    at '));
  return [
    `${error.name}: ${error.message}`,
    ...(frame === undefined ? [] : [frame.trim()]),
    ...(error.cause ? [`cause: ${textOf(error.cause)}`] : []),
    ...(error.errors ?? []).map((one) => `one of its errors: ${textOf(one)}`),
  ].join('\n');
};

const logLine = ({ k, msg, err }: LogRecord): string => `$logs: ${k}: ${msg ?? err?.message ?? ''}`;

const hookErrors = ({ observations = [] }: { observations?: readonly unknown[] }): readonly string[] =>
  (observations as readonly { readonly err?: Told }[]).flatMap(({ err }) => (err ? [textOf(err)] : []));
