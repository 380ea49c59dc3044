// Loaded with `node --import`: the wall clock of the process is ahead by TEST_CLOCK_AHEAD_MS, and SIGUSR2 sets it right
// and wrong again. Its monotonic clock and its timers are not changed.
const ahead = Number(process.env.TEST_CLOCK_AHEAD_MS ?? '0');
let shift = ahead;
process.on('SIGUSR2', () => (shift = shift === 0 ? ahead : 0));

const Right = Date;
globalThis.Date = class Date extends Right {
  constructor(...values) {
    if (values.length === 0) super(Right.now() + shift);
    else super(...values);
  }
  static now() {
    return Right.now() + shift;
  }
};
