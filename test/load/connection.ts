import { Client } from 'undici';

/** A request in the form that both kinds of client need. */
export interface Prepared {
  /** Request line and headers, for a raw socket. */
  readonly head: string;
  readonly path: string;
  readonly body: string;
}

/** One kept-alive connection, one request at a time. */
export interface Connection {
  /** Calls back with the status; 0 when the connection failed. */
  send(request: Prepared, answered: (status: number) => void): void;
  close(): void;
}

const HEADERS = { 'content-type': 'application/json' };

export class UndiciConnection implements Connection {
  private readonly client: Client;

  constructor(host: string, port: number) {
    this.client = new Client(`http://${host}:${port}`, { pipelining: 1 });
  }

  send({ path, body }: Prepared, answered: (status: number) => void): void {
    this.client.request({ path, method: 'POST', headers: HEADERS, body }).then(
      async (reply) => {
        await reply.body.dump();
        answered(reply.statusCode);
      },
      () => answered(0),
    );
  }

  close(): void {
    void this.client.destroy();
  }
}
