/** `host:port` did not answer. What the system says of it names the address: the message does not. */
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

const TIMED_OUT = 'UND_ERR_CONNECT_TIMEOUT';

/** An error of a connect as users may read it: of one address, of several (AggregateError), or of none in time. Others name no address. */
export const connectFailure = (error: Error & { code?: string; syscall?: string }, place: string): Error => {
  const { code, syscall } = error;
  const naming = syscall === 'connect' || 'errors' in error || code === TIMED_OUT;
  return naming ? new ConnectFailed(place, code ?? error.name, error) : error;
};
