import { BACKLOG, readBacklog } from '../../conformance/backlog-reader.js';
import { openPatiently } from './open-patiently.js';

/** A process that reads a backlog: `read-backlog.js BROKERS PREFIX GROUP [LIMIT_BYTES]`. Prints the number of records. */
const [brokers = '', prefix = '', group = '', limit] = process.argv.slice(2);

const log = await openPatiently({
  brokers: brokers.split(','),
  prefix,
  clientId: 'backlog',
  replicationFactor: 1,
  onWarning: (text, fields) => console.error(text, fields),
  fetchBytes: limit === undefined ? undefined : Number(limit),
});
const read = await readBacklog(log, group, BACKLOG);
await log.close();
console.log(read.reduce((sum, each) => sum + each, 0));
