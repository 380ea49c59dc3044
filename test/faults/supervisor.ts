import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { type Deployment } from '#test/harness/deployment.js';
import { type Server } from '#test/harness/server.js';

const LOOK_MS = 1_000;
const READY_MS = 2_000;
const AGAIN_MS = 1_000;

/**
 * Acts like the host of an installation. It probes the readiness of each process, so that the proxy leaves out those
 * that are not ready, and restarts a process that ended on its own, like `restart: unless-stopped` of
 * docker-compose.yml.
 */
export class Supervisor {
  private readonly unready = new Set<Server>();
  private readonly starting = new Map<Server, Promise<void>>();
  private readonly ended: string[] = [];
  private stopping = false;
  private readonly running: Promise<void>;

  constructor(private readonly deployment: Deployment) {
    deployment.serves = (server) => !this.unready.has(server);
    this.running = this.run();
  }

  /** Processes that ended on their own since the last call. */
  endedSince(): readonly string[] {
    return this.ended.splice(0);
  }

  /** Resolves when no start is under way. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.running;
    await Promise.all(this.starting.values());
    this.deployment.serves = () => true;
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      await Promise.all(this.deployment.all.map((server) => this.look(server)));
      await pause(LOOK_MS);
    }
  }

  private async look(server: Server): Promise<void> {
    if (server.hasEnded) return this.restart(server);
    if (!server.isRunning) return;
    if ((await readiness(server)) === 200) this.unready.delete(server);
    else this.unready.add(server);
  }

  private restart(server: Server): void {
    if (this.starting.has(server)) return;
    this.unready.add(server);
    this.ended.push(`${this.deployment.nameOf(server)}: ${lastLine(server)}`);
    const started = pause(AGAIN_MS)
      .then(() => server.restart())
      .then(
        () => undefined,
        (error: unknown) => void this.ended.push(`${this.deployment.nameOf(server)} did not start: ${String(error)}`),
      )
      .finally(() => this.starting.delete(server));
    this.starting.set(server, started);
  }
}

const lastLine = ({ lastOutput }: Server): string => lastOutput.trimEnd().split('\n').at(-1)?.slice(0, 500) ?? '';

/** Status of /readyz, 0 without an answer in time. */
export const readiness = async (server: Server): Promise<number> => {
  try {
    const signal = AbortSignal.timeout(READY_MS);
    const reply = await request(`${server.url}/readyz`, { signal, reset: true });
    await reply.body.dump();
    return reply.statusCode;
  } catch {
    return 0;
  }
};
