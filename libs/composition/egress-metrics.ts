import { type EgressUsage } from '#libs/egress/egress-usage.js';
import { type Metrics } from '#libs/telemetry/index.js';

/**
 * Shows the connections of components in this process (docs/reference/component-model.md#egress-usage). Only the 100
 * sources with the most bytes are shown, because each source is a time series.
 */
export const observeEgress = (usage: EgressUsage, metrics: Metrics): void => {
  metrics.sampled(
    'sluice_egress_connections',
    'Finished connections of components to the outside, of the 100 sources that moved most bytes',
    () => usage.bySource('connections'),
    'source',
  );
  metrics.sampled(
    'sluice_egress_failed',
    'Those of them that were refused, did not open, or were cut off',
    () => usage.bySource('failed'),
    'source',
  );
  metrics.sampled(
    'sluice_egress_sent_bytes',
    'Bytes that components sent over these connections',
    () => usage.bySource('sent'),
    'source',
  );
  metrics.sampled(
    'sluice_egress_received_bytes',
    'Bytes that components received over these connections',
    () => usage.bySource('received'),
    'source',
  );
};
