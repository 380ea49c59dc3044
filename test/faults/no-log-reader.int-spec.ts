import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it } from '@jest/globals';
import { Server } from '#test/harness/server.js';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** A server whose output is no longer read, like after the `tee` beside it was killed. */
it.each(['from its start', 'once it is ready'])('runs and ends without a reader of its output, %s', async (since) => {
  const server = new Server({ env: { SLUICE_LOG_LEVEL: 'debug' } });
  servers.push(server);
  const child = server.launch();
  const leave = (): void => {
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  if (since === 'from its start') leave();
  const url = await server.listening();
  while ((await fetch(`${url}/readyz`)).status !== 200) await pause(20);
  leave();
  expect((await fetch(`${url}/v1/users/me`)).status).toBe(401);
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});
