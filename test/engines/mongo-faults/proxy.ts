import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { type Document } from 'mongodb';
import { helloOf, refusal, type Refusal } from './answers.js';
import { answerBytes, answerOf, commandOf, MessageCutter, requestBytes, type Message } from './wire.js';

/** Treatment of one request. */
export type Verdict =
  /** Answered here, without the server. */
  | { readonly answer: Document }
  /** The connection ends. The server does not hear of it. */
  | { readonly close: true }
  /** Carried out by the server, and then answered otherwise. Undefined ends the connection. */
  | { readonly after: (answer: Document) => Document | undefined };

export type Rule = (command: Document, name: string) => Verdict | Promise<Verdict> | undefined;

export interface MongoFaults {
  /** URL of a replica set whose only known member is this proxy. Ends with a slash and options. */
  url(database: string): string;
  /** Called for each request except greetings. Undefined passes it on. */
  rule: Rule | undefined;
  /**
   * The primary is gone: connections end, and the member that answers from now on is a secondary, which refuses with
   * `refusal`.
   */
  beginElection(refusal?: Refusal): void;
  /** This member is the primary. */
  endElection(): void;
  /** Names of the commands of one kind that the server carried out, with the documents. */
  readonly passed: readonly Document[];
  close(): Promise<void>;
}

/** Fields of a session with a replica set, which are removed for a single server without sessions. */
const SESSION_FIELDS = ['lsid', 'txnNumber', '$clusterTime', 'txnRetryCounter', 'autocommit'];
const GREETINGS = new Set(['hello', 'ismaster', 'isMaster']);
const MOST_REMEMBERED = 10_000;

/**
 * A proxy before a MongoDB server that answers like a member of a replica set during elections. Like a member, it
 * carries out a repeated write of one session once and repeats its answer.
 */
export const startMongoFaults = async (target: string): Promise<MongoFaults> => {
  const { hostname, port } = new URL(target);
  const state = new FaultState();
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const pair = [client, upstream];
    for (const socket of pair) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        for (const each of pair) each.destroy();
      });
    }
    new ProxiedConnection(client, upstream, state);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  state.address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const endConnections = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: (database) => `mongodb://${state.address}/${database}?replicaSet=rs0`,
    get rule() {
      return state.rule;
    },
    set rule(rule) {
      state.rule = rule;
    },
    passed: state.passed,
    beginElection: (name = 'NotWritablePrimary') => {
      state.refusal = name;
      endConnections();
    },
    endElection: () => (state.refusal = undefined),
    close: async () => {
      server.close();
      endConnections();
      await once(server, 'close');
    },
  };
};

class FaultState {
  address = '';
  rule: Rule | undefined;
  /** Set while there is no primary. */
  refusal: Refusal | undefined;
  readonly passed: Document[] = [];
  private readonly answers = new Map<string, Document>();

  /** The answer to a write that the session sent before. */
  answered(key: string | undefined): Document | undefined {
    return key === undefined ? undefined : this.answers.get(key);
  }

  remember(key: string | undefined, answer: Document): void {
    if (key === undefined || Number(answer['ok']) !== 1) return;
    this.answers.set(key, answer);
    if (this.answers.size > MOST_REMEMBERED) this.answers.delete(this.answers.keys().next().value ?? '');
  }
}

/** Handles the requests of one connection one after another, as a server does. */
class ProxiedConnection {
  private readonly requests = new MessageCutter();
  private readonly replies = new MessageCutter();
  private turn: Promise<void> = Promise.resolve();
  private awaited: ((message: Message) => void) | undefined;

  constructor(
    private readonly client: Socket,
    private readonly upstream: Socket,
    private readonly state: FaultState,
  ) {
    client.on('data', (chunk: Buffer) => {
      for (const request of this.requests.push(chunk)) {
        this.turn = this.turn.then(() => this.handle(request)).catch(() => this.end());
      }
    });
    upstream.on('data', (chunk: Buffer) => {
      for (const reply of this.replies.push(chunk)) this.awaited?.(reply);
    });
  }

  private async handle(request: Message): Promise<void> {
    const { state } = this;
    const command = commandOf(request);
    const name = Object.keys(command)[0] ?? '';
    if (GREETINGS.has(name)) return this.greet(request, command);
    if (name === 'endSessions') return this.reply(request, { ok: 1 });
    if (state.refusal) return this.reply(request, refusal(state.refusal));
    const verdict = await state.rule?.(command, name);
    if (verdict && 'close' in verdict) return this.end();
    if (verdict && 'answer' in verdict) return this.reply(request, verdict.answer);
    const key = sessionKey(command);
    const answer = state.answered(key) ?? (await this.forward(request, command));
    state.remember(key, answer);
    const changed = verdict ? verdict.after(answer) : answer;
    if (changed === undefined) return this.end();
    this.reply(request, changed);
  }

  private async greet(request: Message, command: Document): Promise<void> {
    const { state } = this;
    // Without a topology version the driver asks again from time to time, so an election is seen soon.
    const { topologyVersion: _, maxAwaitTimeMS: __, ...greeting } = command;
    const answer = await this.ask(request, greeting);
    this.reply(request, helloOf(answer, state.address, state.refusal === undefined));
  }

  private forward(request: Message, command: Document): Promise<Document> {
    this.state.passed.push(command);
    if (this.state.passed.length > MOST_REMEMBERED) this.state.passed.shift();
    return this.ask(request, command);
  }

  private async ask(request: Message, command: Document): Promise<Document> {
    const plain = Object.fromEntries(Object.entries(command).filter(([field]) => !SESSION_FIELDS.includes(field)));
    // The name of a command is its first field. A greeting of the former kind names no database.
    const bytes = requestBytes(request.id, { ...plain, $db: (command['$db'] as string | undefined) ?? 'admin' });
    const reply = await new Promise<Message>((resolve) => {
      this.awaited = resolve;
      this.upstream.write(bytes);
    });
    return answerOf(reply);
  }

  private reply(request: Message, answer: Document): void {
    this.client.write(answerBytes(request, answer));
  }

  private end(): void {
    this.client.destroy();
  }
}

/** Same for each repeat of a write by its session. */
const sessionKey = ({ lsid, txnNumber }: Document): string | undefined =>
  txnNumber === undefined ? undefined : `${JSON.stringify(lsid)}/${String(txnNumber)}`;
