import { type Position } from '#libs/kernel/events.js';

/**
 * Answer to a command. It is sent once this process's read models have applied the position, which it carries in
 * `X-Sluice-Position`. An undefined position means that nothing changed.
 *
 * The reply is made of the state that the command left and not of a read model, which may lag or show a later change
 * (docs/reference/rest-api.md#reply-of-a-change).
 */
export class Changed<T = void> {
  constructor(
    readonly position: Position | undefined,
    /** Absent when the answer has no body. */
    readonly reply?: T,
  ) {}
}
