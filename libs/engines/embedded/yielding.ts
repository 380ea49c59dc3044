import { setImmediate } from 'node:timers/promises';

/** Rows read in one turn on the main thread, about 1 to 2 ms. */
export const ROWS_PER_TURN = 500;
/** Records prepared for the writer in one turn. */
export const RECORDS_PER_TURN = 256;
/** Lanes handled in one turn. */
export const LANES_PER_TURN = 200;

/** Lets other work of the event loop run between two slices of a long task. */
export const nextTurn = (): Promise<void> => setImmediate();
