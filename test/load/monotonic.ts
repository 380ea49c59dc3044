/** Microseconds of the machine's monotonic clock. All its processes share it, so their readings can be subtracted. */
export const monotonicUs = (): number => {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000_000 + nanoseconds / 1_000;
};
