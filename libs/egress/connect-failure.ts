/** Failure to connect to `host:port`. The message leaves out the address, which the system's own error names. */
export class ConnectFailed extends Error {
  constructor(
    place: string,
    readonly code: string,
    cause: Error,
  ) {
    super(`could not connect to ${place} (${code})`, { cause });
    this.name = 'ConnectFailed';
  }
}

export const CONNECT_TIMED_OUT = 'UND_ERR_CONNECT_TIMEOUT';

/**
 * Turns a connect error into one that users may read. Covers a failure of one address, of several (AggregateError) and
 * a timeout. Other errors name no address and are returned unchanged.
 */
export const connectFailure = (error: Error & { code?: string; syscall?: string }, place: string): Error => {
  const { code, syscall } = error;
  const naming = syscall === 'connect' || 'errors' in error || code === CONNECT_TIMED_OUT;
  return naming ? new ConnectFailed(place, code ?? error.name, error) : error;
};
