import { runRole } from '#libs/composition/role.js';
import { httpBytesOf } from '#libs/composition/pressure.js';
import { startIngressRole } from '#libs/composition/roles/ingress.js';
import { openDistributed } from '#libs/engines/distributed/index.js';
import { openReplyChannel } from '#libs/ingress/reply-channel.js';

/** Role `ingress`, any number of processes: step 1 of the path of an event. `runRole` does steps 1 to 4. */
runRole('ingress', openDistributed, async (role) => {
  const { id, plane, front, serveTelemetry, logger, readiness, closing } = role;

  // 5. The channel for replies to waiting requests.
  const channel = await openReplyChannel({ log: plane.engines.log, processId: id, logger });
  readiness.register('answers', () => channel.problem());
  closing('replies', () => channel.close());

  // 6. Endpoints, behind the gate that limits arrivals to the capacity of the other roles.
  const backlog = role.startLoggedBacklog();
  const bytes = httpBytesOf(role.config);
  const ingress = startIngressRole(role, { backlog, counting: backlog.counting, relay: channel.relay, bytes });

  // 7. The port, with the telemetry routes of every role.
  front.serve((req, res) => void (ingress.handle(req, res) || serveTelemetry(req, res)));
  closing('requests', () => front.close(5_000));
});
