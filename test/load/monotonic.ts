/** Microseconds of the machine's monotonic clock: the same for all processes of this machine, so differences between them are true. */
export const monotonicUs = (): number => {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000_000 + nanoseconds / 1_000;
};
