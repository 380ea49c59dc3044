import { type Config } from '#libs/config/index.js';
import { type Admission } from '#libs/ingress/admission.js';
import { Ingress } from '#libs/ingress/ingress.js';
import { TrustedProxies } from '#libs/http/client-address.js';
import { RateLimit } from '#libs/ingress/rate-limit.js';
import { type ResponseRelay } from '#libs/ingress/response-relay.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type Logger, type Metrics } from '#libs/telemetry/index.js';
import { type ControlPlane } from './control-plane.js';

export interface IngressOptions {
  readonly config: Config;
  readonly plane: ControlPlane;
  readonly topics: TopicPolicy;
  readonly relay: ResponseRelay;
  readonly admission: Admission;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

export const makeIngress = ({ config, plane, topics, relay, admission, metrics, logger }: IngressOptions): Ingress =>
  new Ingress({
    endpoint: (key) => plane.views.sources.endpoint(key),
    log: plane.engines.log,
    topics,
    relay,
    admission,
    rate: new RateLimit(config.endpointRate, config.endpointBurst),
    domain: config.endpointDomain,
    maxBodyBytes: config.maxBodyKb * 1024,
    // A run may wait for its turn before it uses its whole time limit.
    replyTimeoutMs: (config.runTimeoutS ?? 30) * 1_000 + 5_000,
    proxies: new TrustedProxies(config.trustedProxies),
    clock: plane.clock,
    metrics: metrics.ingress,
    logger,
  });
