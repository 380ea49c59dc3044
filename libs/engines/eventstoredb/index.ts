export { EventStoreDbEventStore, openEventStoreDb, type EventStoreDbOptions } from './event-store.js';
export { LargeData } from './large-data.js';
export { eventStoreFault } from './faults.js';
