import { type Position } from '#libs/kernel/events.js';

/**
 * Answer to a command. Its reply is made and sent once this process's read models have applied the position, which the
 * answer carries in `X-Sluice-Position`. An undefined position means that nothing changed.
 */
export class Changed<T = void> {
  constructor(
    readonly position: Position | undefined,
    /** Absent when the answer has no body. */
    readonly reply?: () => T | Promise<T>,
  ) {}
}
