export { dataStoresContext } from './context.js';
export { DataStoreCleanUpReactor } from './clean-up/data-store-clean-up.reactor.js';
export { startRecordSweeper } from './clean-up/record-sweeper.js';
export { dataStoreAccess } from './data-store-access.js';
export { DataStoresModule } from './data-stores.module.js';
export { DataStoresView } from './data-stores-view.js';
export { dataStore } from './domain/data-store.js';
