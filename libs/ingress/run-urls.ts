import { type IncomingMessage, type ServerResponse } from 'node:http';
import { answerAtLast } from '#libs/http/last-answer.js';
import { Faults } from '#libs/kernel/faults.js';
import { type NamedExecution } from '#libs/runner/workflow/run-token.js';
import { type askRunner } from '#libs/runner/workflow/steering-over-log.js';
import { confirmPage, CONFIRM_POLICY } from './confirm-page.js';
import { endpointEvent } from './endpoint-event.js';
import { CORS, CORS_ORIGIN, Intake, type IntakeDependencies, type Stay } from './intake.js';

export interface RunUrlsDependencies extends IntakeDependencies {
  /** Undefined for a token that this installation has not signed. */
  readonly namedBy: (token: string) => NamedExecution | undefined;
  /** Undefined for a workflow that was deleted. */
  readonly workflow: (id: string) => { readonly workspaceId: string; readonly name: string } | undefined;
  /** Whether the wait is known to be over. */
  readonly isOver: (named: NamedExecution) => Promise<boolean>;
  /** Resolves once `isOver` knows this version of the run, or after a limited time. */
  readonly shown: (runId: string, version: number) => Promise<void>;
  /** Resolves once the request is durable, with undefined when the workflow was deleted. */
  readonly steer: (
    request: NamedExecution & {
      readonly workspaceId: string;
      readonly kind: 'cancel' | 'resume';
      readonly value: string;
    },
  ) => ReturnType<typeof askRunner>;
  readonly logger: { error(fields: object, message: string): void };
}

interface Address {
  readonly token: string;
  readonly action: 'cancel' | 'confirm' | 'resume';
  readonly query: string;
}

/** Whoever has a URL may use it, so no cache keeps its answer and no page passes it on. */
const PRIVATE = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};
const SUCCESS = '{"success":true}';
const NOT_STORED = 'the request could not be stored: send it again';

/** Serves the URLs that end a wait of a run (docs/reference/workflows.md#run-urls). */
export class RunUrls {
  private readonly faults: Faults;
  private readonly intake: Intake;

  constructor(private readonly deps: RunUrlsDependencies) {
    this.faults = new Faults({ say: (text, fields) => deps.logger.error(fields, text) });
    this.intake = new Intake(deps);
  }

  /** Serves a request below `/r/`. Returns false for any other request. */
  handle(req: IncomingMessage, res: ServerResponse): boolean {
    if (req.url?.startsWith('/r/') !== true) return false;
    for (const [name, value] of Object.entries(PRIVATE)) res.setHeader(name, value);
    this.serve(req, res).catch((error: unknown) => {
      const headers = { ...PRIVATE, ...CORS_ORIGIN, 'retry-after': '1' };
      answerAtLast(res, { status: 503, code: 'unavailable', error: NOT_STORED, headers });
      this.deps.metrics.refused(503);
      this.faults.met(String(error), 'run_urls.failed', { error: String(error) });
    });
    return true;
  }

  private async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { deps } = this;
    const address = addressOf(req.url ?? '');
    const named = address && deps.namedBy(address.token);
    if (!named) return this.intake.refuse(res, 404, 'not_found', 'no run has this address: check that it is complete');
    const { method } = req;
    if (method === 'OPTIONS') return void res.writeHead(204, CORS).end();
    const workflow = deps.workflow(named.workflowId);
    if (!workflow) return this.over(res);
    const { action } = address;
    if (method === 'HEAD' || action === 'confirm') {
      if (action === 'confirm' && method !== 'GET' && method !== 'HEAD') return this.onlyShown(res);
      if (await deps.isOver(named)) return this.over(res);
      return action === 'confirm' ? page(res, confirmPage(workflow.name)) : succeeded(res, 200);
    }
    const { workspaceId } = workflow;
    await this.intake.receive(
      { rateKey: named.runId, sourceId: named.workflowId, workspaceId },
      (body) => (action === 'cancel' ? NO_EVENT : this.eventOf(req, address, body)),
      ({ text: value }, stay) => this.steer({ ...named, workspaceId, kind: action, value }, stay, res),
      req,
      res,
    );
  }

  /** What the waiting step gets, in the shape of an HTTP event. */
  private eventOf(req: IncomingMessage, { query }: Address, body: Buffer): Promise<{ readonly text: string }> {
    return endpointEvent(this.intake.requestOf(req, { path: '/', query }, body), false);
  }

  private async steer(
    request: Parameters<RunUrlsDependencies['steer']>[0],
    stay: Stay,
    res: ServerResponse,
  ): Promise<void> {
    const asked = await this.deps.steer(request);
    if (!asked) return this.over(res);
    stay.end();
    this.deps.metrics.accepted(request.workspaceId);
    const answer = await asked.answer;
    if (answer?.result === 'ends' || answer?.result === 'cancels') await this.untilShown(request.runId, answer.version);
    if (res.destroyed) return;
    switch (answer?.result) {
      case 'ends':
      case 'cancels':
        return succeeded(res, 200);
      // The wait has not begun, or the runner has not answered yet. The request is durable.
      case 'kept':
      case undefined:
        return succeeded(res, 202);
      case 'over':
      case 'unknown':
      case 'already':
      case 'finished':
        return this.over(res);
    }
  }

  /** Who is told that the wait has ended then finds it over by HEAD and on the page that confirms. */
  private async untilShown(runId: string, version: number): Promise<void> {
    try {
      await this.deps.shown(runId, version);
    } catch (error) {
      // The wait has ended all the same.
      this.faults.met(String(error), 'run_urls.not_shown', { error: String(error) });
    }
  }

  private over(res: ServerResponse): void {
    this.intake.refuse(res, 410, 'no_longer_waiting', 'the run no longer waits for this: it went on, or has ended');
  }

  private onlyShown(res: ServerResponse): void {
    const text = 'this page is only shown: send the request to the same address with /resume or /cancel at its end';
    this.intake.refuse(res, 405, 'method_not_allowed', text, { allow: 'GET, HEAD, OPTIONS' });
  }
}

const NO_EVENT = Promise.resolve({ text: 'null' });

/** Reads `/r/<token>/<action>`. */
const addressOf = (url: string): Address | undefined => {
  const mark = url.indexOf('?');
  const [, , token = '', action, ...more] = (mark === -1 ? url : url.slice(0, mark)).split('/');
  if (more.length > 0 || (action !== 'resume' && action !== 'cancel' && action !== 'confirm')) return undefined;
  return { token, action, query: mark === -1 ? '' : url.slice(mark + 1) };
};

const succeeded = (res: ServerResponse, status: number): void => {
  const headers = { 'content-type': 'application/json', 'content-length': String(SUCCESS.length), ...CORS_ORIGIN };
  res.writeHead(status, headers).end(SUCCESS);
};

const page = (res: ServerResponse, html: string): void => {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-length': String(Buffer.byteLength(html)),
    'content-security-policy': CONFIRM_POLICY,
  };
  res.writeHead(200, headers).end(html);
};
