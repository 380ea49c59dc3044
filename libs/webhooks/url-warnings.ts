import { type Warning } from '#libs/kernel/warning.js';
import { type DeliveryReach } from './ports.js';

/**
 * Warns of a URL whose deliveries will all be refused. It is accepted, because the operator may allow the address later
 * (docs/reference/rest-api.md#webhook-url-warning).
 */
export const urlWarnings = (url: string, reach: DeliveryReach): readonly Warning[] => {
  const refusal = reach.refusalOf(new URL(url).hostname);
  if (refusal === undefined) return [];
  return [{ code: 'refused_address', message: `deliveries to this URL will fail: ${refusal}`, path: 'url' }];
};
