import { EngineUnavailable } from '#libs/kernel/engine-unavailable.js';
import { storeFull } from '#libs/data-stores/data-store-records.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { RevisionConflict, type ExpectedRevision } from '#libs/kernel/event-store.js';
import { CheckpointConflict } from '#libs/kernel/read-model-store.js';
import { StateConflict } from '#libs/runner/run-journal.js';
import { type Failure } from './ops.js';
import { isBusy } from './sqlite-driver.js';

export const toRevision = (revision: number): ExpectedRevision => (revision < 0 ? 'no_stream' : BigInt(revision));

/** Nothing was written. Writes continue automatically once there is room. */
export const storageFull = (): DomainError =>
  new DomainError('platform.storage_full', 'the disk is full and nothing was stored: try again when there is room');

export const isStorageFull = (error: unknown): boolean =>
  error instanceof DomainError && error.code === 'platform.storage_full';

/** Converts a refusal of the writer thread to the ports' error, because errors lose their class between threads. */
export const refusal = (failure: Failure): Error => {
  switch (failure.rule) {
    case 'revision':
      return new RevisionConflict(failure.stream, toRevision(failure.expected), toRevision(failure.actual));
    case 'state':
      return new StateConflict(failure.name, failure.expected, failure.actual);
    case 'checkpoint':
      return new CheckpointConflict(failure.collection, failure.expected, failure.actual);
    case 'data_store':
      return storeFull(failure.full, failure.limit, failure.actual);
    case 'data_store_number':
      return new DomainError('data_store.not_a_number', failure.message);
    case 'failed':
      if (failure.full) return storageFull();
      return failure.fatal || isBusy(failure)
        ? new EngineUnavailable('the data directory', `not written: ${failure.message}`)
        : new Error(`not written: ${failure.message}`);
  }
};
