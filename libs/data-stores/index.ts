export { dataStoresContext } from './context.js';
export { startRecordSweeper } from './clean-up/record-sweeper.js';
export { dataStoreAccess } from './data-store-access.js';
export { DataStoresModule } from './data-stores.module.js';
export { dataStore } from './domain/data-store.js';
