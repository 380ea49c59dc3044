import { type Context } from '../context.js';
import { type Fields, jsonLine } from '../json.js';
import { type Line, printed } from '../text.js';

/** Kinds of lines of `--json`. */
export type ReportType =
  'ready' | 'updated' | 'rejected' | 'run' | 'emit' | 'log' | 'warning' | 'error' | 'reply' | 'db' | 'forwarded';

/** Tells what happens: lines for people, or an object a line. */
export class Report {
  constructor(private readonly context: Context) {}

  tell(type: ReportType, fields: Fields, lines: readonly Line[]): void {
    const { globals, io, look } = this.context;
    if (globals.json === true) {
      io.out(jsonLine({ at: Date.now(), type, ...fields }));
      return;
    }
    const at = new Date().toLocaleTimeString('en-GB');
    lines.forEach((line, n) => {
      const parts = typeof line === 'string' ? [line] : line;
      io.out(printed([{ text: n === 0 ? `${at} ` : ' '.repeat(9), as: 'dim' }, ...parts], look));
    });
  }
}
