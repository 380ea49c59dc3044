import { ClusterBacklog } from '#libs/cluster/cluster.js';
import { makeIngress } from '#libs/composition/make-ingress.js';
import { pressureGate, pressureSettings } from '#libs/composition/pressure.js';
import { runRole } from '#libs/composition/role.js';
import { openDistributed } from '#libs/engines/distributed/index.js';
import { openReplyChannel } from '#libs/ingress/reply-channel.js';

/** Role `ingress`, any number of processes: step 1 of the path of an event. `runRole` does steps 1 to 4. */
runRole('ingress', openDistributed, async (role) => {
  const { id, config, plane, topics, front, serveTelemetry, logger, metrics, closing } = role;

  // 5. The channel for replies to waiting requests.
  const channel = await openReplyChannel({ log: plane.engines.log, processId: id, logger });
  closing('replies', () => channel.close());

  // 6. The gate that limits arrivals to what the other roles can take.
  const backlog = new ClusterBacklog(plane.engines.registry, (error) => logger.warn({ err: error }, 'backlog.unknown'));
  backlog.start();
  const gate = pressureGate(backlog, pressureSettings(config), () => plane.clock.now());
  closing('gate', async () => {
    backlog.close();
    gate.close();
  });

  // 7. Endpoints, and the telemetry routes of every role.
  const ingress = makeIngress({ config, plane, topics, relay: channel.relay, admission: gate, metrics, logger });
  front.serve((req, res) => void (ingress.handle(req, res) || serveTelemetry(req, res)));
  closing('requests', () => front.close(5_000));
  metrics.sampled('sluice_ingress_held', 'Requests held back by pressure', () => gate.waitingCount());
});
