import { type Clock } from '../clock.js';
import { type DomainEvent, type NewEvent, type RecordedEvent } from '../events.js';
import { commandHandler, type HandleCommand } from '../handle-command.js';
import { eventIdOf, newCommandId } from '../ids.js';
import { type LiveView } from '../live-view.js';
import { type Projection } from '../projection.js';
import { Projectors } from '../projectors.js';
import { type Reactor, ReactorRunner } from '../reactor.js';
import { Upcasters } from '../upcasting.js';
import { type Vault } from '../vault.js';
import { InMemoryEventStore } from './in-memory-event-store.js';
import { InMemoryReadModels } from './in-memory-read-models.js';

export class InMemoryVault implements Vault {
  readonly secrets = new Map<string, { readonly workspaceId: string; readonly plaintext: string }>();

  async put(ref: string, workspaceId: string, plaintext: string): Promise<void> {
    this.secrets.set(ref, { workspaceId, plaintext });
  }
  async get(ref: string, workspaceId: string): Promise<string | undefined> {
    const secret = this.secrets.get(ref);
    return secret?.workspaceId === workspaceId ? secret.plaintext : undefined;
  }
  async delete(ref: string): Promise<void> {
    this.secrets.delete(ref);
  }
  async *entries(): AsyncIterable<{ ref: string; workspaceId: string; plaintext: string }> {
    for (const [ref, secret] of this.secrets) yield { ref, ...secret };
  }
}

/** Advances by one millisecond with every reading, so that later resources sort later. */
export class SteppingClock implements Clock {
  constructor(public time = 1_700_000_000_000) {}
  now(): number {
    return this.time++;
  }
}

export interface ControlPlaneOptions {
  readonly projections: readonly Projection[];
  readonly views?: readonly LiveView[];
  readonly reactors?: (plane: ControlPlane) => readonly Reactor[];
}

/** In-memory event log, read models, projectors and reactors of some contexts, for specs over HTTP. Specs stop it. */
export class ControlPlane {
  readonly clock = new SteppingClock();
  readonly events = new InMemoryEventStore(this.clock);
  readonly readModels = new InMemoryReadModels();
  readonly vault = new InMemoryVault();
  readonly upcasters = new Upcasters();
  readonly handleCommand: HandleCommand = commandHandler({ store: this.events, upcasters: this.upcasters });
  readonly projectors: Projectors;
  readonly failures: Error[] = [];
  private reactors: readonly ReactorRunner[] = [];

  private constructor(options: ControlPlaneOptions) {
    this.projectors = new Projectors({
      events: this.events,
      readModels: this.readModels,
      upcasters: this.upcasters,
      projections: options.projections,
      views: options.views ?? [],
      onFailure: (error) => this.failures.push(error),
      onViewsFailure: (error) => this.failures.push(error),
    });
  }

  static async start(options: ControlPlaneOptions): Promise<ControlPlane> {
    const plane = new ControlPlane(options);
    await plane.projectors.start();
    const { events, readModels, upcasters } = plane;
    plane.reactors = (options.reactors?.(plane) ?? []).map(
      (reactor) =>
        new ReactorRunner({
          reactor,
          events,
          readModels,
          upcasters,
          onFailure: (error) => plane.failures.push(error),
          backoffMs: [1, 1, 1],
        }),
    );
    await Promise.all(plane.reactors.map((reactor) => reactor.start()));
    return plane;
  }

  /** Every port of the kernel that this supports, for the modules of contexts. */
  ports() {
    const { clock, events, handleCommand, upcasters, readModels, projectors, vault } = this;
    return { clock, events, handleCommand, upcasters, readModels, readYourWrites: projectors, vault };
  }

  /** Appends an event as another context would, and waits until the read models contain it. */
  async happened(stream: string, event: DomainEvent, workspaceId = 'o_1'): Promise<void> {
    const past = await this.eventsOf(stream);
    const commandId = newCommandId();
    const added: NewEvent = {
      ...event,
      id: eventIdOf(commandId, stream, 0),
      metadata: {
        $correlationId: commandId,
        $causationId: commandId,
        commandId,
        actor: { userId: 'u_1', apiKeyId: null },
        workspaceId,
        schemaVersion: 1,
      },
    };
    const expected = past.at(-1)?.revision ?? 'no_stream';
    const { position } = await this.events.append(stream, [added], expected);
    await this.projectors.waitFor(position, 5_000);
  }

  async eventsOf(stream: string): Promise<RecordedEvent[]> {
    const events: RecordedEvent[] = [];
    for await (const event of this.events.read(stream)) events.push(event);
    return events;
  }

  /** Resolves when every reactor has handled, and every read model applied, all events in the log. */
  async idle(withinMs = 10_000): Promise<void> {
    const deadline = Date.now() + withinMs;
    for (;;) {
      const end = await this.events.lastPosition();
      for (const reactor of this.reactors) {
        while (reactor.position() < end && reactor.status().failure === undefined) {
          if (Date.now() > deadline) throw new Error(`${reactor.status().name} is not done within ${withinMs} ms`);
          await new Promise<void>((resolve) => setImmediate(resolve));
        }
      }
      await this.projectors.waitFor(end, 5_000);
      if ((await this.events.lastPosition()) === end) return;
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.reactors.map((reactor) => reactor.stop()));
    await this.projectors.stop();
  }
}
