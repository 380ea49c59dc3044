import { WARNING_LIMITS } from '#libs/component-model/warning-limits.js';
import { type Warning } from '#libs/kernel/warning.js';

/** Collects warnings about one component, within the limits that the server allows. */
export class Warnings {
  private readonly kept: Warning[] = [];
  private dropped = 0;

  add(code: string, path: string, message: string): void {
    // The last place is for the count of the others.
    if (this.kept.length === WARNING_LIMITS.count - 1) this.dropped += 1;
    else
      this.kept.push({
        code,
        message: bounded(message, WARNING_LIMITS.message),
        path: bounded(path, WARNING_LIMITS.path),
      });
  }

  list(): readonly Warning[] {
    if (this.dropped === 0) return this.kept;
    const message = `${this.dropped} more warnings are not shown: correct those above and save the component again`;
    return [...this.kept, { code: 'more_warnings', message, path: '' }];
  }
}

const bounded = (text: string, max: number): string => {
  const plain = text.replaceAll('\0', '\ufffd');
  return plain.length <= max ? plain : `${plain.slice(0, max - 1)}…`;
};
