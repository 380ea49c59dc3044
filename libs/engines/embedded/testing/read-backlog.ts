import { BACKLOG, readBacklog } from '../../conformance/backlog-reader.js';
import { openEngines } from './open-engines.js';

/** A process that reads a backlog: `read-backlog.js DATA_DIR GROUP [LIMIT_BYTES]`. Prints the number of records. */
const [dataDir = '', group = '', limit] = process.argv.slice(2);

const engines = await openEngines(dataDir, { fetchBytes: limit === undefined ? undefined : Number(limit) });
const read = await readBacklog(engines.log, group, BACKLOG);
await engines.close();
console.log(read.reduce((sum, each) => sum + each, 0));
