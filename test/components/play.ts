import { DomainError } from '#libs/kernel/domain-error.js';
import { endpointEvent } from '#libs/ingress/endpoint-event.js';
import { type DedupeCache } from '#libs/runner/outcome/dedupe-cache.js';
import { runResult } from '#libs/runner/source/run-result.js';
import { replyOf, type RunOutcome, type Sandbox } from '#libs/sandbox/index.js';
import { bodyRangeOf, wholeEvent } from '#libs/component-model/http-event.js';
import { type HttpReply } from '#libs/component-model/run-output.js';
import { propsOf } from '#libs/sources/published.js';
import { EventIds } from '#libs/stream-log/event-ids.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { type Case, type EmitMetadata, type Request, type Step, type Then } from './case.js';
import { type Planned, type Stage } from './stage.js';

/** Results of a case, in the fields of `then`. */
export type Played = { -readonly [K in keyof Then]-?: unknown };

interface Scene {
  readonly stage: Stage;
  readonly planned: Planned;
  readonly timeoutMs: number;
  readonly played: Played & { emits: unknown[]; metadata: EmitMetadata[]; logs: string[]; errors: unknown[] };
  readonly replies: unknown[];
  readonly eventIds: EventIds;
  sandbox: Sandbox;
  db: Record<string, string>;
  caches: Readonly<Record<string, DedupeCache>>;
}

/** Deploys a component and runs all steps of a case. */
export const play = async (stage: Stage, one: Case, server: string): Promise<Partial<Played>> => {
  const props = withServer(one.given?.props ?? {}, server);
  let planned: Planned;
  try {
    planned = await stage.plan(one.component, props);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { refused: { code: error.code, text: error.message } };
  }
  const db = jsonTexts(one.given?.db ?? {});
  const scene: Scene = {
    stage,
    planned,
    timeoutMs: one.given?.timeoutMs ?? 8_000,
    replies: [],
    eventIds: new EventIds(''),
    played: empty(planned),
    sandbox: await stage.start(planned, db),
    db,
    caches: {},
  };
  try {
    for (const step of one.when ?? [{ event: {} }]) await take(scene, step);
  } finally {
    await scene.sandbox.stop();
  }
  const stored = Object.entries(scene.db).map(([key, text]) => [key, JSON.parse(text) as unknown]);
  return { ...scene.played, replies: scene.replies, db: Object.fromEntries(stored) };
};

const empty = ({ metadata, plan }: Planned): Scene['played'] => ({
  emits: [],
  metadata: [],
  logs: [],
  errors: [],
  db: {},
  replies: [],
  described: metadata,
  warnings: [...metadata.warnings, ...plan.warnings].map(({ code }) => code),
  refused: undefined,
});

const withServer = (props: Readonly<Record<string, unknown>>, server: string): Record<string, unknown> =>
  JSON.parse(JSON.stringify(props).replaceAll('$SERVER', server)) as Record<string, unknown>;

const jsonTexts = (db: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(db).map(([key, value]) => [key, JSON.stringify(value)]));

const take = async (scene: Scene, step: Step): Promise<void> => {
  if ('restart' in step) {
    await scene.sandbox.stop();
    scene.sandbox = await scene.stage.start(scene.planned, scene.db);
    return;
  }
  if ('hook' in step) return void keep(scene, await scene.sandbox.hook(step.hook, scene.timeoutMs), 'null', step.hook);
  if ('request' in step) return ask(scene, step.request);
  const events = 'together' in step ? step.together : [step.event];
  const texts = events.map((event) => JSON.stringify(event));
  const runs = texts.map((event, n) =>
    scene.sandbox.run({ invocationId: `inv_${n}`, event, timeoutMs: scene.timeoutMs }),
  );
  const outcomes = await Promise.all(runs);
  outcomes.forEach((outcome, n) => keep(scene, outcome, texts[n] as string));
};

const ask = async (scene: Scene, request: Request): Promise<void> => {
  const { method = 'POST', path = '/', query = '', headers = {}, body = '', binary } = request;
  const arrived = {
    method,
    path,
    query,
    headers,
    body: Buffer.from(body, binary ? 'latin1' : 'utf8'),
    clientIp: '192.0.2.7',
    url: `https://ekey1.example.test${path}${query === '' ? '' : `?${query}`}`,
  };
  const { text: event, bodyAt } = await endpointEvent(arrived, true);
  const eventBody = bodyRangeOf(event, bodyAt);
  let immediate: HttpReply | undefined;
  const outcome = await scene.sandbox.run({
    invocationId: 'inv_request',
    event,
    body: eventBody,
    timeoutMs: scene.timeoutMs,
    onImmediateResponse: (reply) => (immediate = reply),
  });
  keep(scene, outcome, wholeEvent(event, eventBody));
  const custom = propsOf(scene.planned.plan, 'http').some(({ customResponse }) => customResponse);
  if (!custom) return;
  const { status, headers: sent, body: text, base64 } = immediate ?? replyOf(outcome, 'inv_request');
  scene.replies.push({ status, headers: sent, body: base64 ? Buffer.from(text, 'base64').toString('latin1') : text });
};

const keep = (scene: Scene, outcome: RunOutcome, event: string, hook?: 'deploy' | 'activate' | 'deactivate'): void => {
  const { planned, played, caches, eventIds } = scene;
  const execution = {
    id: 'inv_1',
    sourceId: 'dc_1',
    componentId: 'sc_1',
    workspaceId: 'o_1',
    event: () => event,
    hops: 0,
    emits: true,
    ...(hook ? { hook } : {}),
  };
  const result = runResult(execution, outcome, {
    topic: 't',
    strategy: planned.metadata.dedupe,
    caches,
    eventIds,
  });
  for (const record of result.records) sort(record, played);
  scene.caches = result.caches;
  for (const [key, text] of Object.entries(outcome.dbChanges)) {
    if (text === null) delete scene.db[key];
    else scene.db[key] = text;
  }
  outcome.held?.release();
};

/** Puts a record of the source's topic where `then` looks for it. */
const sort = ({ headers, value }: LogRecord, played: Scene['played']): void => {
  const { channel, dedupe, summary, ts } = headers as Record<string, string | undefined>;
  const content = JSON.parse(value) as { k?: string; msg?: string; error?: unknown };
  if (channel === '$errors') return void played.errors.push(content.error);
  if (channel === '$logs') {
    if (content.msg !== undefined) played.logs.push(`${content.k ?? ''}: ${content.msg}`);
    return;
  }
  played.emits.push(content);
  played.metadata.push({
    ...(channel ? { channel } : {}),
    ...(dedupe === undefined ? {} : { id: JSON.parse(dedupe) as string | number }),
    ...(summary === undefined ? {} : { summary }),
    ...(ts === undefined ? {} : { ts: Number(ts) }),
  });
};
