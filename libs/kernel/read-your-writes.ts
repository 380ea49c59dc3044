import { type Position } from './events.js';

/** Lets a reader wait until the read models hold what a command wrote. */
export interface ReadYourWrites {
  /** True once every projection has applied `position`, false when that took longer than `timeoutMs`. */
  waitFor(position: Position, timeoutMs: number): Promise<boolean>;
}
