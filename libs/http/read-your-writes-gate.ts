import { Inject, Injectable, Optional } from '@nestjs/common';
import { type Response } from 'express';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Position } from '#libs/kernel/events.js';
import { type ReadYourWrites } from '#libs/kernel/read-your-writes.js';
import { READ_YOUR_WRITES } from '#libs/kernel/tokens.js';

export const POSITION_HEADER = 'X-Sluice-Position';
export const APPLIED_TIMEOUT_MS = Symbol('AppliedTimeoutMs');
export const ANSWERS_UNAPPLIED = Symbol('AnswersUnapplied');

/** Delays a command's answer until the read models hold its writes (docs/reference/rest-api.md#read-your-writes). */
@Injectable()
export class ReadYourWritesGate {
  constructor(
    @Inject(READ_YOUR_WRITES) private readonly readModels: ReadYourWrites,
    @Optional() @Inject(APPLIED_TIMEOUT_MS) private readonly timeoutMs: number = 2000,
    @Optional() @Inject(ANSWERS_UNAPPLIED) private readonly answersUnapplied: boolean = false,
  ) {}

  /**
   * Waits after a command; an undefined position means a no-op and returns at once. Throws request.not_caught_up
   * although the change is made, unless `answersUnapplied` is set. Reads that carry the position then wait for it.
   */
  async answerAfter(response: Response, position: Position | undefined): Promise<void> {
    if (position === undefined) return;
    response.setHeader(POSITION_HEADER, position);
    if ((await this.readModels.waitFor(position, this.timeoutMs)) || this.answersUnapplied) return;
    throw new DomainError(
      'request.not_caught_up',
      `the change is made at log position ${position}, but reads do not show it yet after ${this.timeoutMs} ms: ` +
        `read again with the header ${POSITION_HEADER}: ${position}`,
      { position, waited_ms: this.timeoutMs },
    );
  }

  /** Waits before a query that carries a position. Throws request.not_caught_up. */
  async wait(position: Position): Promise<void> {
    if (await this.readModels.waitFor(position, this.timeoutMs)) return;
    throw new DomainError(
      'request.not_caught_up',
      `reads have not reached log position ${position} after ${this.timeoutMs} ms: try again`,
      { position, waited_ms: this.timeoutMs },
    );
  }
}
