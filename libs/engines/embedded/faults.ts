import { EngineUnavailable, type FaultOf } from '#libs/kernel/engine-unavailable.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { fieldOf } from '../faults.js';
import { isBusy, isFatal, isNoSpace } from './writer/sqlite-driver.js';

/** The file is closed. */
const CLOSED: ReadonlySet<unknown> = new Set(['ERR_INVALID_STATE']);
/** Results of SQLite about its files and locks: PERM, BUSY, LOCKED, NOMEM, READONLY, INTERRUPT, IOERR and so on. */
const OF_FILES: ReadonlySet<unknown> = new Set([3, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 22, 23, 26]);

export const embeddedFault: FaultOf = (error) => {
  const isSqlite = String(fieldOf(error, 'code')).includes('SQLITE');
  const result = Number(fieldOf(error, 'errcode') ?? 0) & 0xff;
  const isOfFiles = isSqlite && (OF_FILES.has(result) || isFatal(error) || isNoSpace(error) || isBusy(error));
  if (!isOfFiles && !CLOSED.has(fieldOf(error, 'code'))) return undefined;
  return new EngineUnavailable('the data directory', messageOf(error), { cause: error, full: isNoSpace(error) });
};
