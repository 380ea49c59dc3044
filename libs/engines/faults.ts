import { DeadlineExceeded } from '#libs/async/deadline.js';
import { EngineUnavailable, type FaultOf } from '#libs/kernel/engine-unavailable.js';
import { messageOf } from '#libs/kernel/error-message.js';

/** Codes of the operating system for a full disk, and for a disk or files that cannot be used. */
const NO_ROOM: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);
const BROKEN: ReadonlySet<unknown> = new Set(['EIO', 'EROFS', 'EACCES', 'EPERM', 'EMFILE', 'ENFILE', 'ESTALE']);

/** Recognises the state of an engine or of this machine's disk in an error or its causes. */
export const faultOf =
  (...engines: readonly FaultOf[]): FaultOf =>
  (error) => {
    for (const cause of causesOf(error)) {
      if (cause instanceof EngineUnavailable) return cause;
      for (const engine of [...engines, disk, deadline]) {
        const fault = engine(cause);
        if (fault) return fault;
      }
    }
    return undefined;
  };

const disk: FaultOf = (error) => {
  const code = fieldOf(error, 'code');
  if (fieldOf(error, 'syscall') === undefined || !(NO_ROOM.has(code) || BROKEN.has(code))) return undefined;
  return new EngineUnavailable('the disk', messageOf(error), { cause: error, full: NO_ROOM.has(code) });
};

const deadline: FaultOf = (error) =>
  error instanceof DeadlineExceeded ? new EngineUnavailable(error.what, error.message, { cause: error }) : undefined;

/** Read by shape, because an error of another realm is not an instance of this realm's Error. */
export const fieldOf = (error: unknown, field: string): unknown =>
  typeof error === 'object' && error !== null ? (error as Record<string, unknown>)[field] : undefined;

const LONGEST_CHAIN = 10;

const causesOf = (error: unknown): readonly unknown[] => {
  const causes: unknown[] = [];
  for (let each = error; each !== undefined && causes.length < LONGEST_CHAIN; each = fieldOf(each, 'cause')) {
    causes.push(each);
  }
  return causes;
};
