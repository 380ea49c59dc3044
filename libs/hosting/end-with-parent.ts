/** Argument of a server that `endWithParent` is for. */
export const ENDS_WITH_PARENT = '--ends-with-parent';

/** A stop that takes longer leaves the rest to the next start. */
const GRACE_MS = 3_000;

/**
 * Stops this process once the one that started it is gone, however that ended: the system closes the channel between
 * them.
 */
export const endWithParent = (): void => {
  const end = (): void => {
    setTimeout(() => process.exit(1), GRACE_MS);
    process.kill(process.pid, 'SIGTERM');
  };
  if (process.connected) process.once('disconnect', end);
  else end();
};
