export { EventStoreDbEventStore, openEventStoreDb, type EventStoreDbOptions } from './event-store.js';
