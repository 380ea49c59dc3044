import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type HttpBytes } from '#libs/http/bytes-in-flight.js';
import { TrustedProxies } from '#libs/http/client-address.js';
import { type Admission, allOf, refusing } from '#libs/ingress/admission.js';
import { type EndpointTarget, Ingress } from '#libs/ingress/ingress.js';
import { type IntakeDependencies } from '#libs/ingress/intake.js';
import { RunUrls } from '#libs/ingress/run-urls.js';
import { type WorkInFlight } from '#libs/ingress/pressure-gate.js';
import { RateLimit } from '#libs/ingress/rate-limit.js';
import { type ResponseRelay } from '#libs/ingress/response-relay.js';
import { pressureGate, pressureSettings } from '#libs/ingress/pressure-settings.js';
import { tokenMatches } from '#libs/kernel/token-hash.js';
import { executionNamedBy } from '#libs/runner/workflow/run-token.js';
import { askRunner } from '#libs/runner/workflow/steering-over-log.js';
import { isWaitOver, whenShown } from '#libs/workflow-history/index.js';
import { type Views } from '../contexts.js';
import { quotaKeeper, withinQuotas } from '../quotas.js';
import { type Room, type RoleProcess } from './role-process.js';

export interface IngressRoleOptions {
  readonly backlog: WorkInFlight;
  readonly room?: Pick<Room, 'refusal'>;
  /** Counts stored events where other processes own the lanes. */
  readonly counting?: Admission;
  /** Passes the replies of runs to the requests that wait for them. */
  readonly relay: ResponseRelay;
  /** Bytes that requests of this process hold. */
  readonly bytes: HttpBytes;
}

export interface IngressRole {
  /** Serves a request to an endpoint or to a URL of a run. Returns false for any other request. */
  handle(req: IncomingMessage, res: ServerResponse): boolean;
}

/**
 * Role `ingress`, step 1 of the path of an event. Admits no more than the other roles can process. The caller serves
 * requests.
 */
export const startIngressRole = (own: RoleProcess, options: IngressRoleOptions): IngressRole => {
  const { config, plane, topics, logger } = own;
  const { relay } = options;
  const intake = intakeOf(own, options);
  const endpoints = new Ingress({
    ...intake,
    endpoint: (key) => plane.views.sources.endpoint(key) ?? triggerTarget(plane.views, key),
    log: plane.engines.log,
    topics,
    relay,
    domain: config.endpointDomain,
    // A run may wait for its turn before it uses its whole time limit.
    replyTimeoutMs: (config.runTimeoutS ?? 30) * 1_000 + 5_000,
    logger,
  });
  const { workflows, runUrlKey } = plane.views;
  const { log, runHistory } = plane.engines;
  const steering = { log, topics, relay, clock: plane.clock };
  const runUrls = new RunUrls({
    ...intake,
    namedBy: (token) => runUrlKey.publicKey && executionNamedBy(runUrlKey.publicKey, token),
    workflow: (id) => workflows.find(id),
    isOver: (named) => isWaitOver(runHistory, named),
    shown: (runId, version) => whenShown(runHistory, { runId, version, withinMs: SHOWN_MS }),
    steer: (request) => askRunner(steering, request, STEERED_MS),
    logger,
  });
  // At its own domain an endpoint has every path.
  return { handle: (req, res) => endpoints.handle(req, res) || runUrls.handle(req, res) };
};

/** Time after which the caller of a run's URL is told only that its request is stored. */
const STEERED_MS = 5_000;
/** Longest wait of that caller for the history, after the runner has ended the wait of the run. */
const SHOWN_MS = 2_000;

const intakeOf = (
  { config, plane, logger, metrics, platformEvents, closing }: RoleProcess,
  { backlog, room, counting, bytes }: IngressRoleOptions,
): IntakeDependencies => {
  const gate = pressureGate(backlog, pressureSettings(config), () => plane.clock.now());
  closing('gate', async () => gate.close());
  metrics.sampled('sluice_ingress_held', 'Requests held back by pressure', () => gate.waitingCount());
  return {
    admission: allOf(
      withinQuotas(quotaKeeper(config, plane, logger)),
      ...(room === undefined ? [] : [refusing((arrival) => room.refusal(arrival))]),
      gate,
      // Placed after the gate, because it counts stored events and not refused ones.
      ...(counting === undefined ? [] : [counting]),
    ),
    rate: new RateLimit(config.endpointRate),
    maxBodyBytes: config.maxBodyKb * 1024,
    bytes,
    proxies: new TrustedProxies(config.trustedProxies),
    clock: plane.clock,
    metrics: {
      ...metrics.ingress,
      accepted: (workspaceId) => {
        metrics.ingress.accepted();
        plane.usage.add(workspaceId, 'arrivals');
      },
    },
    onRefused: ({ sourceId, workspaceId }, { code, text }) => {
      // The disk has a watch and a report of its own.
      if (code === 'storage_full') return;
      const isQuota = code === 'quota_exceeded';
      const kind = isQuota ? 'quota_exceeded' : 'events_refused';
      platformEvents.report({ kind, workspaceId, subject: isQuota ? workspaceId : sourceId, message: text });
    },
  };
};

/** A run may wait for its turn and for its steps before it responds. */
const REPLY_MARGIN_MS = 5_000;

const triggerTarget = (
  { workflows, variables }: Pick<Views, 'workflows' | 'variables'>,
  key: string,
): EndpointTarget | undefined => {
  const endpoint = workflows.endpoint(key);
  if (!endpoint) return undefined;
  const { workflowId, workspaceId, triggerId, triggerName, response, staticResponse, auth } = endpoint;
  const hash = auth !== null && 'variable' in auth ? variables.hashOf(workspaceId, auth.variable) : auth;
  const seconds = workflows.find(workflowId)?.settings.timeoutSeconds ?? 30;
  return {
    sourceId: workflowId,
    workspaceId,
    prop: triggerName,
    customResponse: response === 'custom',
    trigger: {
      id: triggerId,
      name: triggerName,
      staticResponse,
      replyTimeoutMs: seconds * 1_000 + REPLY_MARGIN_MS,
      // Without its variable the address admits nobody.
      ...(auth ? { admits: (token: string) => hash !== undefined && hash !== null && tokenMatches(hash, token) } : {}),
    },
  };
};
