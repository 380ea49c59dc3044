import { runRole } from '#libs/composition/role.js';
import { startProjectorRole } from '#libs/composition/roles/projector.js';
import { openDistributed } from '#libs/engines/distributed/index.js';

/** Role `projector`: step 6 of the path of an event. Processes share the read models. `runRole` does steps 1 to 4. */
runRole('projector', openDistributed, async (role) => startProjectorRole(role));
