import { runRole } from '#libs/assembly/role.js';
import { openDistributed } from '#libs/engines/distributed/index.js';
import { startRouter } from '#libs/routing/router.js';
import { EMITS } from '#libs/stream-log/topics.js';

/** Role `router`, any number of copies: step 4 of the path of an event. Steps 1 to 4 of the start are those of every role. */
runRole('router', openDistributed, async ({ plane, topics, reporter, metrics, observeLag, closing }) => {
  // 5. Take emits, give out what subscriptions make of them.
  const { engines, views, clock } = plane;
  const { log } = engines;
  const router = await startRouter({ log, topics, table: views.subscriptions, clock });
  closing('router', () => router.close());

  // 6. What it tells of itself.
  reporter.worksOff(() => router.backlog());
  metrics.sampled('sluice_router', 'What became of emits', () => ({ ...router.metrics, failures: router.failures() }));
  observeLag('router', EMITS);
});
