import { publicUrlOf } from '#libs/config/index.js';
import { openEgress } from '#libs/composition/egress.js';
import { startEmails } from '#libs/composition/emails.js';
import { startMessages } from '#libs/composition/messages.js';
import { runRole } from '#libs/composition/role.js';
import { startWebhookWorkerRole } from '#libs/composition/roles/webhook-worker.js';
import { openDistributed } from '#libs/engines/distributed/index.js';

/** Role `webhook-worker`, any number of processes: step 5 of the path of an event. `runRole` does steps 1 to 4. */
runRole('webhook-worker', openDistributed, async (role) => {
  // 5. The egress guard.
  const egress = openEgress(role.config, role.logger);
  role.closing('egress', () => egress.close());

  // 6. Deliveries, shared between processes by webhook.
  await startWebhookWorkerRole(role, { egress });

  // 7. Messages of workflows, and emails about errors.
  const publicUrl = publicUrlOf(role.config, role.front.port);
  await startMessages(role, { egress, publicUrl });
  await startEmails(role, publicUrl);
});
