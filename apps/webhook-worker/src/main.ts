import { startDeliveries } from '#libs/composition/deliveries.js';
import { pressureOf } from '#libs/composition/pressure.js';
import { runRole } from '#libs/composition/role.js';
import { startRetryPump } from '#libs/delivery/retry-pump.js';
import { createEgress } from '#libs/egress/guarded-dispatcher.js';
import { refusalLog } from '#libs/egress/refusal-log.js';
import { openDistributed } from '#libs/engines/distributed/index.js';
import { DELIVERIES } from '#libs/stream-log/topics.js';

/** Role `webhook-worker`, any number of processes: step 6 of the path of an event. `runRole` does steps 1 to 4. */
runRole('webhook-worker', openDistributed, async (role) => {
  const { config, plane, topics, logger, metrics, reporter, closing, leased, observeLag } = role;

  // 5. The egress guard.
  const egress = createEgress({ allow: config.egressAllow, onRefused: refusalLog(logger) });
  closing('egress', () => egress.close());

  // 6. Deliveries, shared between processes by webhook.
  const worker = await startDeliveries({ config, plane, topics, egress, metrics, logger, pump: 'elsewhere' });
  closing('deliveries', () => worker.close());

  // 7. The pump of due retries, in one of the processes.
  leased({
    name: 'retries',
    start: async () => {
      const { log, schedule } = plane.engines;
      const pump = await startRetryPump({ log, schedule, topics, clock: plane.clock, logger });
      return { stop: () => pump.close() };
    },
  });

  // 8. Reports and metrics.
  reporter.worksOff(
    () => worker.pressure.total(),
    () => pressureOf(worker.pressure),
  );
  metrics.sampled('sluice_deliveries_in_flight', 'Requests to webhooks in flight', () => worker.inFlight());
  observeLag('webhook-worker', DELIVERIES);
});
