import { type Checkpoint } from './read-model-store.js';

/** Checkpoint of a read model whose batches are counted. The order as text is that of the numbers. */
export const counted = (batches: number): Checkpoint => String(batches).padStart(16, '0');
export const countedAfter = (checkpoint: Checkpoint | null): Checkpoint => counted(Number(checkpoint ?? '0') + 1);
