import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { ApiClient, type Data } from '#test/harness/api-client.js';
import { send } from '#test/harness/http.js';
import { eventually } from '#test/harness/wait.js';
import { type KillTarget } from './workflow-kills.js';

interface Arrival {
  /** Id of the message. */
  readonly id: string;
  readonly path: string;
}

/** Receives requests of `$.send.http` and objects of `$.send.s3`. It answers nothing until `release`. */
export class HoldingReceiver {
  readonly arrivals: Arrival[] = [];
  private holds = true;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(): Promise<HoldingReceiver> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const receiver = new HoldingReceiver(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      request.resume();
      request.on('error', () => response.destroy());
      request.on('end', () => receiver.receive(request, response));
    });
    return receiver;
  }

  /** Environment of a server that may write to the bucket `b` here. */
  get env(): Readonly<Record<string, string>> {
    const key = { region: 'r', access_key_id: 'a', secret_access_key: 's' };
    return {
      SLUICE_S3: JSON.stringify([{ bucket: 'b', endpoint: `${this.url}/s3`, ...key, workspaces: '*' }]),
    };
  }

  /** Answers what comes from now on. */
  release(): void {
    this.holds = false;
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  private receive({ headers, url: path = '' }: IncomingMessage, response: ServerResponse): void {
    this.arrivals.push({ id: String(headers['x-pd-send-id'] ?? headers['x-amz-meta-pd-send-id']), path });
    if (!this.holds) response.end();
  }
}

interface Workflow {
  readonly triggers: readonly { readonly endpoint_url: string }[];
}
interface Run {
  readonly state: string;
  readonly steps: readonly {
    readonly sends: readonly { readonly id: string; readonly kind: string; readonly state: string }[];
  }[];
}

/** What the message worker sends at once for one workflow. */
const AT_ONCE = 16;
const UNSENT = 4;
/** All of them on servers, and no second kill of one process. */
const ALL = 0.4;

export interface SendsOverKill {
  readonly run: Run;
  /** Before the kill, and all. */
  readonly before: readonly Arrival[];
  readonly arrivals: readonly Arrival[];
}

/**
 * A step sends an object and more requests than go out at once. The server is killed while the first ones have no
 * answer and the last ones have not been sent. Resolves once every message has been sent.
 */
export const sendOverKill = async (target: KillTarget, receiver: HoldingReceiver): Promise<SendsOverKill> => {
  const { server } = target;
  const api = new ApiClient(server);
  try {
    await server.start();
    const code = `export default { async run({ $ }) {
      $.send.s3({ bucket: 'b', prefix: 'a', payload: { a: 1 } });
      for (let n = 1; n < ${AT_ONCE + UNSENT}; n++) $.send.http({ method: 'POST', url: '${receiver.url}/' + n, retry: true });
      $.flow.suspend();
    } };`;
    const body = { name: 'Killed', triggers: [{ type: 'http' }], steps: [{ namespace: 'a', code }] };
    const { data } = await api.expect<Data<Workflow>>(200, 'POST', '/v1/workflows', { body });
    const url = server.url + new URL(data.triggers[0]?.endpoint_url ?? '').pathname;
    const id = String((await send(url, { body: {} })).headers['x-sluice-run-id']);
    await eventually('requests', () => receiver.arrivals.length >= AT_ONCE || undefined, 60_000, 5);
    const killed = target.kill(() => ALL);
    const before = [...receiver.arrivals];
    receiver.release();
    await killed;
    const run = await eventually(
      'every message is sent',
      async () => {
        const reply = await api.call<Partial<Data<Run>>>('GET', `/v1/runs/${id}`);
        const sends = reply.body.data?.steps[0]?.sends ?? [];
        return sends.length > 0 && sends.every(({ state }) => state === 'sent') ? reply.body.data : undefined;
      },
      90_000,
    );
    return { run, before, arrivals: receiver.arrivals };
  } finally {
    await api.close();
    await server.close();
  }
};

/** What went wrong. Empty when each message went out under its own id, to one address, and all in flight went out again. */
export const problemsOfSends = ({ run, before, arrivals }: SendsOverKill): readonly string[] => {
  const sends = run.steps[0]?.sends ?? [];
  const ids = new Set(sends.map(({ id }) => id));
  const placesOf = new Map<string, Set<string>>();
  for (const { id, path } of arrivals) placesOf.set(id, (placesOf.get(id) ?? new Set()).add(path));
  const countOf = (wanted: string): number => arrivals.filter(({ id }) => id === wanted).length;
  return [
    ...(run.state === 'waiting' ? [] : [`the run is ${run.state}`]),
    ...(ids.size === AT_ONCE + UNSENT ? [] : [`the record has ${ids.size} ids`]),
    ...[...ids].filter((id) => placesOf.get(id)?.size !== 1).map((id) => `${id} did not go to one address`),
    ...[...placesOf.keys()].filter((id) => !ids.has(id)).map((id) => `${id} is not in the record`),
    ...before.filter(({ id }) => countOf(id) < 2).map(({ id }) => `${id} did not go out again`),
  ];
};
