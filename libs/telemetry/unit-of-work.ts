import { type Logger } from './logger.js';

/**
 * One wide line for each unit of work: fields are gathered on the way, and written once, at its end, under a fixed name.
 * What ends without `done` or `failed` writes nothing.
 */
export interface UnitOfWork {
  add(fields: Readonly<Record<string, unknown>>): void;
  done(fields?: Readonly<Record<string, unknown>>): void;
  failed(error: unknown, fields?: Readonly<Record<string, unknown>>): void;
}

/** @param name `{part}.{unit}`, the same for every line of the kind: `http.request`, `source.deploy`. */
export const unitOfWork = (
  logger: Pick<Logger, 'info' | 'error'>,
  name: string,
  fields: Readonly<Record<string, unknown>> = {},
  now: () => number = () => performance.now(),
): UnitOfWork => {
  const startedAt = now();
  let gathered = fields;
  let open = true;
  const end = (write: 'info' | 'error', last: Readonly<Record<string, unknown>>): void => {
    if (!open) return;
    open = false;
    logger[write]({ ...gathered, ...last, ms: Math.round((now() - startedAt) * 10) / 10 }, name);
  };
  return {
    add: (more) => {
      gathered = { ...gathered, ...more };
    },
    done: (last = {}) => end('info', last),
    failed: (error, last = {}) => end('error', { ...last, err: error }),
  };
};
