import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server as Listener, type Socket } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type EngineAddresses } from '#test/harness/deployment.js';
import { ROOT } from '#test/harness/paths.js';

/**
 * `silent`: nothing passes, open connections stay open, and new ones get no answer, like after a cable was pulled.
 * `refused`: open connections are reset and new ones refused, like by a firewall that rejects.
 */
export type CutMode = 'silent' | 'refused';

interface Pair {
  readonly near: Socket;
  /** Undefined while the relay is silent since before the connection. */
  far: Socket | undefined;
}

/** Passes connections to one port of an engine, unless it is cut. */
export class EngineRelay {
  /** The port on which it listens, the same each time. */
  port = 0;
  private readonly pairs = new Set<Pair>();
  private mode: CutMode | 'open' = 'open';
  private listener: Listener | undefined;

  private constructor(readonly target: number) {}

  static async start(target: number): Promise<EngineRelay> {
    const relay = new EngineRelay(target);
    await relay.listen();
    return relay;
  }

  /** Bytes that its open connections brought from the engine. */
  get received(): number {
    return [...this.pairs].reduce((sum, { far }) => sum + (far?.bytesRead ?? 0), 0);
  }

  /** The setting for relayed-sockets.ts. */
  get mapping(): string {
    return `${this.target}=${this.port}`;
  }

  async cut(mode: CutMode): Promise<void> {
    this.mode = mode;
    if (mode === 'silent') {
      for (const { near, far } of this.pairs) {
        near.unpipe();
        far?.unpipe();
      }
    } else await this.close();
  }

  async restore(): Promise<void> {
    this.mode = 'open';
    if (!this.listener) await this.listen();
    for (const pair of this.pairs) this.pass(pair);
  }

  async close(): Promise<void> {
    const { listener } = this;
    this.listener = undefined;
    for (const { near, far } of this.pairs) {
      near.resetAndDestroy();
      far?.resetAndDestroy();
    }
    if (!listener) return;
    const closed = once(listener, 'close');
    listener.close();
    await closed;
  }

  private async listen(): Promise<void> {
    const listener = createServer({ allowHalfOpen: true, noDelay: true }, (near) => this.accept(near));
    listener.listen(this.port, '127.0.0.1');
    await once(listener, 'listening');
    this.port = (listener.address() as AddressInfo).port;
    this.listener = listener;
  }

  private accept(near: Socket): void {
    const pair: Pair = { near, far: undefined };
    this.pairs.add(pair);
    near.on('error', () => near.destroy());
    near.once('close', () => this.ended(pair));
    if (this.mode === 'open') this.pass(pair);
    else if (this.mode === 'refused') near.resetAndDestroy();
  }

  private pass(pair: Pair): void {
    const { near } = pair;
    if (near.destroyed || pair.far?.destroyed === true) return this.ended(pair);
    if (!pair.far) {
      const far = connect({ port: this.target, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
      far.on('error', () => far.destroy());
      far.once('close', () => this.ended(pair));
      pair.far = far;
    }
    near.pipe(pair.far);
    pair.far.pipe(near);
  }

  /** One end has closed. The other end is closed too, unless the relay is silent. */
  private ended(pair: Pair): void {
    if (this.mode === 'silent') return;
    this.pairs.delete(pair);
    pair.near.destroy();
    pair.far?.destroy();
  }
}

const portsOf = ({ kafka, mongo, eventStore }: EngineAddresses): number[] => [
  ...kafka.split(',').map((address) => Number(address.split(':').at(-1))),
  Number(new URL(mongo).port),
  ...[...eventStore.matchAll(/:(\d+)/g)].map(([, port]) => Number(port)),
];

/** The relays between one process and every engine. */
export class EngineRelays {
  private constructor(private readonly relays: readonly EngineRelay[]) {}

  static async start(engines: EngineAddresses): Promise<EngineRelays> {
    return new EngineRelays(await Promise.all(portsOf(engines).map((port) => EngineRelay.start(port))));
  }

  /** Settings of the process, with which its connections go through the relays. */
  get settings(): Readonly<Record<string, string>> {
    return {
      NODE_OPTIONS: `--import=${pathToFileURL(join(ROOT, 'dist/test/faults/relayed-sockets.js')).href}`,
      TEST_ENGINE_RELAYS: this.relays.map(({ mapping }) => mapping).join(','),
    };
  }

  async cut(mode: CutMode): Promise<void> {
    await Promise.all(this.relays.map((relay) => relay.cut(mode)));
  }

  async restore(): Promise<void> {
    await Promise.all(this.relays.map((relay) => relay.restore()));
  }

  async close(): Promise<void> {
    await Promise.all(this.relays.map((relay) => relay.close()));
  }
}
