import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

export interface TokenServerOptions {
  /** Lifetime of its access tokens in seconds. */
  readonly expiresIn?: number;
  /** False for a server whose refresh tokens stay valid. */
  readonly rotates?: boolean;
}

/** A request for a token that is not answered yet. */
export interface HeldRequest {
  readonly refreshToken: string;
  /** Resolves once the caller has gone. */
  readonly gone: Promise<void>;
}

/**
 * A token server. It accepts each refresh token once, and names its tokens `<first part>-access-<n>` and `<first
 * part>-<n>`.
 */
export class TokenServer {
  /** Received refresh tokens, in order. */
  readonly asked: string[] = [];
  /** Requests at the same time for tokens of the same name. */
  readonly overlaps: string[] = [];
  /** Time before each answer. */
  delayMs = 0;
  /** Time of the last issued token. */
  answeredAt = 0;
  private readonly held: HeldRequest[] = [];
  private holding = false;
  private readonly open = new Set<string>();
  private readonly rounds = new Map<string, number>();
  private readonly used = new Set<string>();

  private constructor(
    private readonly server: Server,
    private readonly options: TokenServerOptions,
  ) {}

  static async start(options: TokenServerOptions = {}): Promise<TokenServer> {
    const server = createServer();
    const tokens = new TokenServer(server, options);
    server.on('request', (req, res) => {
      const gone = new Promise<void>((resolve) => res.once('close', resolve));
      void readText(req).then(async (body) => {
        const answer = await tokens.answer(new URLSearchParams(body).get('refresh_token') ?? '', gone);
        if (answer === undefined) return;
        res.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return tokens;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/token`;
  }

  /** Accepts refresh tokens from now on without an answer, as if the answer was lost. */
  hold(): void {
    this.holding = true;
  }

  answerAgain(): void {
    this.holding = false;
  }

  /** Requests without an answer. */
  get unanswered(): readonly HeldRequest[] {
    return this.held;
  }

  /** Refresh tokens of one name in the order of their arrival. */
  askedFor(name: string): readonly string[] {
    return this.asked.filter((token) => nameOf(token) === name);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(
    refreshToken: string,
    gone: Promise<void>,
  ): Promise<{ readonly status: number; readonly body: object } | undefined> {
    const name = nameOf(refreshToken);
    const { rotates = true, expiresIn = 3600 } = this.options;
    this.asked.push(refreshToken);
    if (rotates && this.used.has(refreshToken)) return { status: 400, body: { error: 'invalid_grant' } };
    this.used.add(refreshToken);
    if (this.holding) {
      this.held.push({ refreshToken, gone });
      return undefined;
    }
    if (this.open.has(name)) this.overlaps.push(refreshToken);
    this.open.add(name);
    await pause(this.delayMs);
    this.open.delete(name);
    const round = (this.rounds.get(name) ?? 0) + 1;
    this.rounds.set(name, round);
    this.answeredAt = Date.now();
    const body = { access_token: `${name}-access-${round}`, expires_in: expiresIn };
    return { status: 200, body: rotates ? { ...body, refresh_token: `${name}-${round}` } : body };
  }
}

const nameOf = (token: string): string => token.split('-')[0] ?? '';
