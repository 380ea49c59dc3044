/** Tokens of the ports of this context, which the composition root provides. */

/** Provides `DataStoreRecords` of data-store-records.ts. */
export const DATA_STORE_RECORDS = Symbol('DataStoreRecords');
