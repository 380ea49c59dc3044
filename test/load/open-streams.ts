import { readFileSync } from 'node:fs';
import { ApiClient, endpointOf, type Source } from '#test/harness/api-client.js';
import { relayCode } from '#test/harness/component-code.js';
import { EventSource } from '#test/harness/event-source.js';
import { send } from '#test/harness/http.js';
import { Server } from '#test/harness/server.js';
import { eventually } from '#test/harness/wait.js';

/**
 * Opens many streams on one process, most of them silent, and shows that an event reaches each that follows its source:
 * `npm run bench:streams [streams]`. Prints counts, memory of the process and times; it asserts no time.
 */
const count = Number(process.argv[2] ?? 2_000);
const sources = 20;
// One user has a quarter of the streams of a process at most.
const limits = { SLUICE_STREAMS_PER_USER: String(count), SLUICE_STREAMS: String(4 * count) };
const server = new Server({ env: limits });
const api = new ApiClient(server);
const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
await server.start();
try {
  const deployed: Source[] = [];
  for (let i = 0; i < sources; i++) deployed.push(await api.createSource({ component_code: relayCode() }));
  const before = memoryOf(server.pid);
  const openedAt = performance.now();
  const streams: EventSource[] = [];
  for (let i = 0; i < count; i += 50) {
    const some = Array.from({ length: Math.min(50, count - i) }, (_, n) => deployed[(i + n) % sources]!);
    streams.push(
      ...(await Promise.all(
        some.map(({ id }) => EventSource.open(`${server.url}/v1/sources/${id}/sse`, server.apiKey)),
      )),
    );
  }
  const opened = streams.filter(({ status }) => status === 200).length;
  const openMs = performance.now() - openedAt;
  const after = memoryOf(server.pid);
  const sentAt = performance.now();
  await Promise.all(deployed.map((source, n) => send(endpointOf(server, source), { body: { n } })));
  await eventually(
    'an event on every stream',
    () => streams.every(({ events }) => events.length === 1) || undefined,
    60_000,
  );
  const allMs = performance.now() - sentAt;
  const report = {
    streams: opened,
    sources,
    openMs: Math.round(openMs),
    untilAllHaveOneMs: Math.round(allMs),
    rssMbBefore: Math.round(before / 1e6),
    rssMbAfter: Math.round(after / 1e6),
    kbPerStream: Math.round((after - before) / count / 1e2) / 10,
  };
  console.log(JSON.stringify(report));
  for (const stream of streams) stream.close();
} finally {
  await api.close();
  await server.close();
}
