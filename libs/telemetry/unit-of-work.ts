import { type Logger } from './logger.js';

/**
 * Collects fields during a unit of work and writes them at its end, as one wide line with a fixed name.
 * A unit that ends without `done` or `failed` writes nothing.
 */
export interface UnitOfWork {
  add(fields: Readonly<Record<string, unknown>>): void;
  done(fields?: Readonly<Record<string, unknown>>): void;
  failed(error: unknown, fields?: Readonly<Record<string, unknown>>): void;
}

/** @param name `{part}.{unit}`, fixed for each kind of line, such as `http.request` or `source.deploy`. */
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
