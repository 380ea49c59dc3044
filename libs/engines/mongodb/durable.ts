import { type CollectionOptions } from 'mongodb';

/** An acknowledged write survives the loss of the primary. */
export const DURABLE = { writeConcern: { w: 'majority', journal: true } } as const satisfies CollectionOptions;
