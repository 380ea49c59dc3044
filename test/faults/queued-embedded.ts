import { withStopped } from '#test/harness/move-scene.js';
import { Server } from '#test/harness/server.js';
import { type QueuedTarget } from './queued-repeats.js';

/** A standalone server. Its router begins again because its commits are reverted while it is down. */
export const queuedEmbedded = (): QueuedTarget => {
  const server = new Server({ readyTimeoutMs: 180_000 });
  return {
    server,
    killAndRepeat: async (emitterIds) => {
      await server.kill9();
      await withStopped(server.dataDir, ({ log }) =>
        log.setCommitted('router', Object.fromEntries(emitterIds.map((id) => [`emits.${id}`, -1]))),
      );
      await server.start();
    },
  };
};
