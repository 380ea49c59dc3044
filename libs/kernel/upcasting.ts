import { type RecordedEvent } from './events.js';

/** Turns version n of an event's data into version n + 1. Pure and total: it must accept every event ever written. */
export type Upcaster = (data: Record<string, unknown>) => Record<string, unknown>;

/** Steps per event type. Index 0 lifts version 1 to 2, and so on. Golden JSON of each version: test/fixtures/events. */
export class Upcasters {
  private readonly steps = new Map<string, readonly Upcaster[]>();

  register(type: string, steps: readonly Upcaster[]): this {
    if (this.steps.has(type)) throw new Error(`upcasters of ${type} are already registered`);
    this.steps.set(type, steps);
    return this;
  }

  /** Returns the version that writers stamp. */
  currentVersion(type: string): number {
    return (this.steps.get(type)?.length ?? 0) + 1;
  }

  upcast<E extends RecordedEvent>(event: E): E {
    const steps = this.steps.get(event.type);
    const written = event.metadata.schemaVersion;
    if (!steps || written > steps.length) return event;
    let data = event.data as Record<string, unknown>;
    for (let version = written; version <= steps.length; version++) data = (steps[version - 1] as Upcaster)(data);
    return { ...event, data, metadata: { ...event.metadata, schemaVersion: steps.length + 1 } };
  }
}
