import { type Config } from '#libs/config/index.js';
import { createEgress, type Egress } from '#libs/egress/guarded-dispatcher.js';
import { proxyServerOf } from '#libs/egress/proxy-connect.js';
import { refusalLog, type RefusalLogger } from '#libs/egress/refusal-log.js';

/** The egress guard of a process, as its settings say. */
export const openEgress = (config: Config, logger: RefusalLogger): Egress => {
  const { egressProxy, egressProxyResolves: resolvesNames } = config;
  const server = egressProxy === null ? undefined : proxyServerOf(egressProxy);
  if (server !== undefined && resolvesNames)
    logger.warn(
      { proxy: `${server.host}:${server.port}` },
      'egress.proxy_resolves: names that users give are not resolved here, so only the outgoing proxy can refuse names of private addresses (SLUICE_EGRESS_PROXY_RESOLVES)',
    );
  return egressTo(config.egressAllow, config, logger);
};

/** The way to hosts that only the operator names, in private networks too. It uses the outgoing proxy like the other. */
export const openOperatorEgress = (config: Config, logger: RefusalLogger): Egress =>
  egressTo(['0.0.0.0/0', '::/0'], config, logger);

const egressTo = (allow: readonly string[], config: Config, logger: RefusalLogger): Egress => {
  const { egressProxy, egressNoProxy: noProxy, egressProxyResolves: resolvesNames } = config;
  const server = egressProxy === null ? undefined : proxyServerOf(egressProxy);
  const proxy = server && { server, noProxy, resolvesNames, logger };
  return createEgress({ allow, proxy, onRefused: refusalLog(logger) });
};
