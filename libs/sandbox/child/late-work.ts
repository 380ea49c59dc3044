import { wellFormed } from '#libs/kernel/well-formed.js';
import { LATE_DETAIL_LENGTH, type LateKind, ToldOnce } from '../protocol/late-work.js';
import { textOfError } from './error-text.js';
import { type Uplink } from './uplink.js';

/** Longest part of an event, a line or a message that a report repeats. */
const QUOTED = 200;

/** Reports what code does after its run has ended, once a run and kind (docs/reference/component-model.md#late-work). */
export class LateWork {
  private readonly told = new ToldOnce();

  constructor(private readonly uplink: Pick<Uplink, 'send' | 'spill'>) {}

  /** @param n number of the run that has ended, or NO_RUN */
  report(n: number, kind: LateKind, detail: () => string = () => ''): void {
    if (!this.told.isFirst(n, kind)) return;
    this.uplink.send(['p', n, kind, Date.now()], wellFormed(detail().slice(0, LATE_DETAIL_LENGTH)));
    this.uplink.spill();
  }

  error(n: number, thrown: unknown): void {
    this.report(n, 'error', () => {
      const { name, message, stack } = textOfError(thrown);
      const frame = /^ +at (.{1,300})$/m.exec(stack)?.[1];
      return `${name}: ${message.slice(0, QUOTED)}${frame === undefined ? '' : ` (at ${frame})`}`;
    });
  }
}

/** Beginning of a value as JSON, for a report. Never throws. */
export const quoted = (value: unknown): string => {
  try {
    const text = JSON.stringify(value) ?? typeof value;
    return text.length <= QUOTED ? text : `${text.slice(0, QUOTED)}…`;
  } catch {
    return `a value of type ${typeof value}`;
  }
};
