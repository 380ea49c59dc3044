import { parseArgs } from 'node:util';
import { startEventStoreStandIn } from './stand-in.js';

/**
 * Runs the EventStoreDB stand-in (stand-in.ts) as a process: `main.js --dir <folder> [--port <n>]`.
 * Prints one line of JSON with the url when it is ready. Ends on SIGTERM; may be killed at any time.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string' },
    dir: { type: 'string' },
  },
});
const standIn = await startEventStoreStandIn({
  ...(values.port === undefined ? {} : { port: Number(values.port) }),
  ...(values.dir === undefined ? {} : { dir: values.dir }),
});
process.stdout.write(`${JSON.stringify({ url: standIn.url, pid: process.pid })}\n`);
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    void standIn.stop().then(() => process.exit(0));
  });
}
