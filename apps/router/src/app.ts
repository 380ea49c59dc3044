import { runRole } from '#libs/composition/role.js';
import { startRouterRole } from '#libs/composition/roles/router.js';
import { openDistributed } from '#libs/engines/distributed/index.js';
import { SubscriptionTable } from '#libs/routing/subscription-table.js';

const table = new SubscriptionTable();

/** Role `router`, any number of processes: step 4 of the path of an event. `runRole` does steps 1 to 4. */
runRole(
  'router',
  openDistributed,
  async (role) => {
    // 5. The router, which waits while the runners have too much work.
    await startRouterRole(role, { backlog: role.startBacklog(), table });
  },
  [table],
);
