import { pause } from '#libs/async/pause.js';
import { type EventStore } from './event-store.js';
import { type Position } from './events.js';
import { type ReactorRunner } from './reactor.js';

/** Waits until the read models contain a command's events. */
export interface ReadYourWrites {
  /** Resolves to true once every projection has applied `position`, to false after `timeoutMs`. */
  waitFor(position: Position, timeoutMs: number): Promise<boolean>;
}

/** Longest wait of an answer for the reactions to a command. They still happen later. */
const REACTORS_MS = 500;

/**
 * In one process a command is answered once its reactions are readable too. For example, deleting a webhook removes its
 * subscriptions, and the caller's next list does not show them. A stuck reactor delays an answer only briefly.
 */
export const readYourWritesAndReactions = (
  readModels: ReadYourWrites,
  events: EventStore,
  reactors: readonly ReactorRunner[],
): ReadYourWrites => ({
  async waitFor(position: Position, timeoutMs: number): Promise<boolean> {
    const until = performance.now() + timeoutMs;
    if (!(await readModels.waitFor(position, timeoutMs))) return false;
    const patience = Math.min(until, performance.now() + REACTORS_MS);
    while (reactors.some((reactor) => reactor.position() < position)) {
      if (performance.now() >= patience) return true;
      await pause(1);
    }
    const written = await events.lastPosition();
    if (written > position) await readModels.waitFor(written, Math.max(0, patience - performance.now()));
    return true;
  },
});
