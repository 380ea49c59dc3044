import { type Position } from './events.js';

/** Lets a reader wait until the read models hold a command's events. */
export interface ReadYourWrites {
  /** Resolves to true once every projection has applied `position`, to false after `timeoutMs`. */
  waitFor(position: Position, timeoutMs: number): Promise<boolean>;
}
