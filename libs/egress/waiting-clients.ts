import { type Socket } from 'node:net';

/** Clients of an egress socket beyond its connections. They are served in order, or refused after a time. */
export class WaitingClients {
  private readonly timers = new Map<Socket, NodeJS.Timeout>();

  /** @param refuse says to the client that no connection became free */
  constructor(
    private readonly most: number,
    private readonly waitMs: number,
    private readonly refuse: (client: Socket) => void,
  ) {}

  add(client: Socket): void {
    if (this.timers.size >= this.most) {
      this.refuse(client);
      return;
    }
    const late = (): void => {
      this.timers.delete(client);
      this.refuse(client);
    };
    this.timers.set(client, setTimeout(late, this.waitMs));
  }

  /** The client that has waited longest, and waits no more. */
  next(): Socket | undefined {
    for (const [client, timer] of this.timers) {
      clearTimeout(timer);
      this.timers.delete(client);
      return client;
    }
    return undefined;
  }
}
