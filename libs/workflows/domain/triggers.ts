import { derivedId } from '#libs/kernel/ids.js';
import { type TokenHash } from '#libs/kernel/token-hash.js';
import { SECRET_MASK } from '#libs/sources/published.js';
import {
  type BearerAuth,
  type HttpTrigger,
  isListening,
  type ListeningTrigger,
  ownsSource,
  type TimerTrigger,
  type ToolTrigger,
  type WorkflowTrigger,
} from '../published.js';
import { type JsonObject } from './check-shape.js';
import { objectIn, textIn, triggersOf } from './definition-rules.js';
import { type FaultCode, type Path } from './findings.js';
import { numberIn } from './settings.js';
import { ANY_INPUT } from './tool-input.js';
import { tokenOfVariable, variableOfToken } from './token-variable.js';

/** A source that a trigger asks the workflow to deploy. */
export interface WantedTriggerSource {
  /** Index among the triggers. */
  readonly at: number;
  readonly trigger: string;
  readonly sourceId: string;
  /** No version before had it. */
  readonly isNew: boolean;
  readonly uses: string;
  readonly props: JsonObject;
}

export interface TriggerPlan {
  readonly triggers: readonly WorkflowTrigger[];
  readonly sources: readonly WantedTriggerSource[];
  /** The definition with masks in the place of tokens. The name of a variable is no secret. */
  readonly definition: JsonObject;
  readonly faults: readonly { readonly path: Path; readonly code: FaultCode; readonly message: string }[];
}

/** Id of a source that a draft asks for, and its workflow does not have. */
export const NO_SOURCE = '';

export interface TriggerRequest {
  readonly workflowId: string;
  /**
   * Of the version in force. A trigger of the same name keeps its key, its own source, its token when the mask is given,
   * and the place of its ticks while its schedule stays.
   */
  readonly before: readonly WorkflowTrigger[];
  readonly newKey: () => string;
  readonly newSourceId: () => string;
  readonly newHash: (token: string) => TokenHash;
  readonly matches: (hash: TokenHash, token: string) => boolean;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The triggers of a plain definition. */
export const planTriggers = (definition: JsonObject, request: TriggerRequest): TriggerPlan => {
  const faults: TriggerPlan['faults'][number][] = [];
  const sources: WantedTriggerSource[] = [];
  const triggers = namedTriggers(definition).flatMap(([i, trigger, name]): readonly WorkflowTrigger[] => {
    const kind = textIn(trigger, 'type') ?? '';
    switch (kind) {
      case 'http': {
        const before = request.before.find((each) => each.kind === 'http' && each.name === name);
        const planned = planHttp(trigger, name, before?.kind === 'http' ? before : undefined, request);
        if (typeof planned !== 'string') return [planned];
        faults.push({ path: ['triggers', i, 'auth', 'token'], code: 'format', message: planned });
        return [];
      }
      case 'timer':
        return [planTimer(trigger, name, request)];
      case 'manual':
      case 'workflow':
        return [{ kind, name }];
      case 'tool':
        return [planTool(trigger, name)];
      case 'event':
        return [planListening(kind, trigger, name, request.workflowId)];
      case 'source': {
        const uses = textIn(trigger, 'uses');
        const listening = planListening(kind, trigger, name, request.workflowId);
        if (uses === undefined) return [listening];
        const known = request.before
          .filter(ownsSource)
          .find((each) => each.name === name && each.emitterId !== NO_SOURCE)?.emitterId;
        const sourceId = known ?? request.newSourceId();
        const props = objectIn(trigger, 'props');
        sources.push({ at: i, trigger: name, sourceId, isNew: known === undefined, uses, props });
        return [{ ...listening, emitterId: sourceId, isOwned: true }];
      }
      default:
        // Nothing of it may be accepted and ignored.
        faults.push({
          path: ['triggers', i, 'type'],
          code: 'unsupported',
          message: `this server does not start workflows by triggers of type ${kind} yet`,
        });
        return [];
    }
  });
  faults.push(...goneEmitters(triggers, request.before));
  return { triggers, sources, faults, definition: withMasks(definition, triggers) };
};

/**
 * What a former version keeps: its tokens, and its URLs, unless a trigger of the name has another one now. Sources and
 * ticks are those in force.
 */
export const restorable = (
  former: readonly WorkflowTrigger[],
  inForce: readonly WorkflowTrigger[],
): readonly WorkflowTrigger[] => {
  const keys = new Map(inForce.flatMap((each) => (each.kind === 'http' ? [[each.name, each.key]] : [])));
  return [
    ...former.flatMap((each) => (each.kind === 'http' ? [{ ...each, key: keys.get(each.name) ?? each.key }] : [])),
    ...inForce.filter(({ kind }) => kind !== 'http'),
  ];
};

/** Triggers that name a source of the workflow which the same change deletes. */
const goneEmitters = (
  triggers: readonly WorkflowTrigger[],
  before: readonly WorkflowTrigger[],
): readonly TriggerPlan['faults'][number][] => {
  const kept = new Set(triggers.filter(ownsSource).map(({ emitterId }) => emitterId));
  const gone = before.filter(ownsSource).filter(({ emitterId }) => !kept.has(emitterId));
  return triggers.flatMap((trigger, i) => {
    const source = isListening(trigger) ? gone.find(({ emitterId }) => emitterId === trigger.emitterId) : undefined;
    if (!source) return [];
    const path = ['triggers', i, trigger.kind === 'event' ? 'emitter' : 'id'];
    const message = `the source ${source.emitterId} goes with the trigger ${source.name}, which the definition lacks`;
    return [{ path, code: 'unresolved', message }];
  });
};

const planTimer = (trigger: JsonObject, name: string, { workflowId, before, now }: TriggerRequest): TimerTrigger => {
  const cron = textIn(trigger, 'cron') ?? null;
  const intervalSeconds = numberIn(trigger, 'interval_seconds') ?? null;
  const timezone = cron === null ? null : (textIn(trigger, 'timezone') ?? null);
  const overlap = textIn(trigger, 'overlap') === 'skip' ? 'skip' : 'allow';
  const id = derivedId('ti', workflowId, name);
  const known = before.find((each) => each.kind === 'timer' && each.id === id);
  const isSame =
    known?.kind === 'timer' &&
    known.cron === cron &&
    known.intervalSeconds === intervalSeconds &&
    known.timezone === timezone;
  return {
    kind: 'timer',
    id,
    name,
    cron,
    intervalSeconds,
    timezone,
    overlap,
    changedAt: isSame ? known.changedAt : now,
  };
};

const planTool = (trigger: JsonObject, name: string): ToolTrigger => {
  const annotations = objectIn(trigger, 'annotations');
  return {
    kind: 'tool',
    name,
    isNamed: textIn(trigger, 'name') !== undefined,
    description: textIn(trigger, 'description') ?? '',
    input: Object.hasOwn(trigger, 'input') ? objectIn(trigger, 'input') : ANY_INPUT,
    annotations: Object.keys(annotations).length === 0 ? null : annotations,
  };
};

const planListening = (
  kind: ListeningTrigger['kind'],
  trigger: JsonObject,
  name: string,
  workflowId: string,
): ListeningTrigger => {
  const filter = objectIn(trigger, 'filter');
  return {
    kind,
    subscriptionId: derivedId('sub', workflowId, kind, name),
    name,
    emitterId: textIn(trigger, kind === 'event' ? 'emitter' : 'id') ?? '',
    eventName: textIn(trigger, 'event_name') ?? '',
    filter: Object.keys(filter).length === 0 ? null : filter,
  };
};

/** The trigger, or what is wrong with its token. */
const planHttp = (
  trigger: JsonObject,
  name: string,
  before: HttpTrigger | undefined,
  { workflowId, newKey, newHash, matches }: TriggerRequest,
): HttpTrigger | string => {
  const token = textIn(objectIn(trigger, 'auth'), 'token');
  const known = before?.auth ?? null;
  if (token === SECRET_MASK && known === null) return `the mask ${SECRET_MASK} was given, but no token is stored`;
  const variable = token === undefined ? undefined : variableOfToken(token);
  const fixed = objectIn(trigger, 'static_response');
  const response = (textIn(trigger, 'response') ?? 'default') as HttpTrigger['response'];
  return {
    kind: 'http',
    id: derivedId('hi', workflowId, name),
    name,
    key: before?.key ?? newKey(),
    response,
    staticResponse:
      response === 'static'
        ? {
            status: numberIn(fixed, 'status') ?? 200,
            headers: objectIn(fixed, 'headers') as Readonly<Record<string, string>>,
            body: textIn(fixed, 'body') ?? '',
          }
        : null,
    auth:
      token === undefined
        ? null
        : variable === undefined
          ? (keptOf(known, token, matches) ?? newHash(token))
          : { variable },
  };
};

const keptOf = (known: BearerAuth | null, token: string, matches: TriggerRequest['matches']): BearerAuth | undefined =>
  known !== null && (token === SECRET_MASK || ('salt' in known && matches(known, token))) ? known : undefined;

/** The triggers, with the names of those that have none given. */
export const namedTriggers = (
  definition: JsonObject,
): readonly (readonly [index: number, trigger: JsonObject, name: string])[] => {
  const triggers = triggersOf(definition);
  const taken = new Set(triggers.flatMap(([, trigger]) => textIn(trigger, 'name') ?? []));
  return triggers.map(([i, trigger]) => {
    const name = textIn(trigger, 'name') ?? freeName(textIn(trigger, 'type') ?? '', taken);
    taken.add(name);
    return [i, trigger, name];
  });
};

/** `http`, then `http_2`, `http_3`. */
const freeName = (type: string, taken: ReadonlySet<string>): string => {
  let name = type;
  for (let n = 2; taken.has(name); n++) name = `${type}_${n}`;
  return name;
};

const withMasks = (definition: JsonObject, planned: readonly WorkflowTrigger[]): JsonObject => {
  if (definition['triggers'] === undefined) return definition;
  const triggers = namedTriggers(definition).map(([, trigger, name]) => {
    const auth = objectIn(trigger, 'auth');
    if (textIn(auth, 'token') === undefined) return trigger;
    const plan = planned.find((each) => each.kind === 'http' && each.name === name);
    return { ...trigger, auth: { ...auth, token: shownToken(plan?.kind === 'http' ? plan.auth : null) } };
  });
  return { ...definition, triggers };
};

export const shownToken = (auth: BearerAuth | null): string =>
  auth !== null && 'variable' in auth ? tokenOfVariable(auth.variable) : SECRET_MASK;
