import { runRole } from '#libs/composition/role.js';
import { startSchedulerRole } from '#libs/composition/roles/scheduler.js';
import { openDistributed } from '#libs/engines/distributed/index.js';

/**
 * Role `scheduler`, step 1' of the path of an event: one process publishes the ticks, the others stand by. `runRole` does
 * steps 1 to 4.
 */
runRole('scheduler', openDistributed, startSchedulerRole);
