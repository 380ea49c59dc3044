import { definitionIn } from './definition-in.js';
import { isPlain } from './plain-object.js';
import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { type BoundProp } from '../sandbox.js';
import { NO_SAMPLE_EMIT, SAMPLE_EMIT, type ProcessCall } from '#libs/component-model/hooks.js';
import { type BodyRange, parsedEvent, wholeEvent } from '#libs/component-model/http-event.js';
import { type ChangedRequest } from '../shim/http-request.js';
import { DataStore } from './data-store.js';
import { type Execution } from './execution.js';
import { resolveProp } from './prop-definition.js';
import { type SendRequest } from './request-sender.js';
import { type StoreLink } from './store-link.js';

/** Component object, as its module exports it. */
export interface ComponentObject {
  readonly props?: Readonly<Record<string, unknown>>;
  readonly methods?: Readonly<Record<string, unknown>>;
  readonly hooks?: Readonly<Record<string, unknown>>;
  readonly run?: unknown;
  readonly [key: string]: unknown;
}

export type Method = (this: unknown, ...args: unknown[]) => unknown;
export type Self = Record<string, unknown>;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
export const isMethod = (value: unknown): value is Method => typeof value === 'function';

/** Object that the module exports, as ESM default, `exports.default` or `module.exports`. */
export const componentOf = (exported: unknown): ComponentObject => {
  let value = exported;
  // A transpiled CommonJS file wraps its default export in two layers.
  for (let depth = 0; depth < 2 && isObject(value); depth++) {
    if ('default' in value && (value.__esModule === true || isObject(value.default))) value = value.default;
    else if (value.__esModule === true)
      throw new TypeError('the module has no default export, which must be the component');
  }
  if (typeof value === 'function') throw new TypeError('the component must export an object, not a function');
  if (!isObject(value) || Array.isArray(value))
    throw new TypeError(`the component must export an object, not ${Array.isArray(value) ? 'an array' : typeof value}`);
  if (Object.keys(value).length === 0 && isPlain(value))
    throw new TypeError('the module exports nothing: the component is its default export, or module.exports');
  return value;
};

const bindMethods = (methods: unknown, self: Self): void => {
  if (!isObject(methods)) return;
  for (const name of Object.keys(methods)) {
    const method = methods[name];
    self[name] = isMethod(method) ? method.bind(self) : method;
  }
};

export const appObject = (definition: unknown, auth: Readonly<Record<string, unknown>>): Self => {
  const self: Self = {};
  if (isObject(definition)) bindMethods(definition.methods, self);
  self.$auth = { ...auth };
  return self;
};

/** A form stores an option chosen by label as `{__lv: …}` (docs/reference/component-model.md#prop-label). */
const unwrapLabel = (value: unknown, withLabel: boolean): unknown => {
  if (!isObject(value) || !('__lv' in value)) return value;
  const chosen = value.__lv;
  if (withLabel) return chosen;
  const valueOf = (option: unknown): unknown => (isObject(option) && 'value' in option ? option.value : option);
  return Array.isArray(chosen) ? chosen.map(valueOf) : valueOf(chosen);
};

type Binder = (execution: Execution) => unknown;

const timerOf = (prop: { intervalSeconds: number | null; cron: string | null }): Self => ({
  type: '$.interface.timer',
  ...(prop.intervalSeconds === null
    ? {}
    : { intervalSeconds: prop.intervalSeconds, interval_seconds: prop.intervalSeconds }),
  ...(prop.cron === null ? {} : { cron: prop.cron }),
});

/** Services of the process for props. */
export interface PropTools {
  /** Folder that the process may write to. */
  readonly tmp: string;
  /** Sends a configured request. Undefined where no prop needs it, or none can be sent. */
  readonly sendRequest?: SendRequest | undefined;
  /** Calls of data stores. Undefined where there are none. */
  readonly stores?: StoreLink | undefined;
}

const cannotSend = (): never => {
  throw new Error('http_request: execute() cannot send this request: update the source once with PUT /v1/sources/{id}');
};

/** The configured request, whose `execute` sends its current state (docs/reference/component-model.md#http-request). */
const requestOf = (text: string, send: PropTools['sendRequest']): unknown => {
  const request = JSON.parse(text) as ChangedRequest;
  const { body } = request;
  const execute = async (): Promise<unknown> => (send ?? cannotSend)(request, request.body === body);
  return Object.defineProperty(request, 'execute', { value: execute });
};

const binderOf = (prop: BoundProp, definition: unknown, tools: PropTools): Binder => {
  switch (prop.kind) {
    case 'value': {
      const value = unwrapLabel(prop.value, isObject(definition) && definition.withLabel === true);
      if (!isObject(value)) return () => value;
      const text = JSON.stringify(value);
      // A source that was deployed before requests could be sent.
      const isRequest = isObject(definition) && definition.type === 'http_request';
      return isRequest ? () => requestOf(text, undefined) : () => JSON.parse(text) as unknown;
    }
    case 'request': {
      const text = JSON.stringify(prop.value);
      return () => requestOf(text, tools.sendRequest);
    }
    case 'dir':
      return () => tools.tmp;
    case 'http':
      return (execution) => ({ endpoint: prop.endpoint, respond: execution.respond });
    case 'timer':
      return () => timerOf(prop);
    case 'db':
      return (execution) => ({ get: execution.dbGet, set: execution.dbSet });
    case 'store':
      return (execution) => new DataStore(prop.id, execution, tools.stores);
    case 'app':
      return () => appObject(definition, prop.auth);
  }
};

/** Follows propDefinition. A definition that cannot be followed was refused when the component was saved. */
const resolvedIn = (definitions: ReadonlyMap<string, unknown>, name: string): unknown => {
  const definition = definitionIn(definitions.get(name));
  if (definition?.propDefinition === undefined) return definition;
  try {
    return resolveProp(name, definition);
  } catch {
    return definition;
  }
};

/** Makes a fresh `this` for every execution (docs/reference/component-model.md#this-fresh). */
export class BoundComponent {
  private readonly binders: readonly (readonly [string, Binder])[];
  private readonly methods: readonly (readonly [string, unknown])[];

  /** @param dynamicProps props that additionalProps added or changed */
  constructor(
    readonly component: ComponentObject,
    private readonly props: Readonly<Record<string, BoundProp>>,
    private readonly tools: PropTools,
    readonly dynamicProps: readonly ConfigurableProp[] = [],
  ) {
    const definitions = new Map(Object.entries(isObject(component.props) ? component.props : {}));
    for (const prop of dynamicProps) if (!definitions.has(prop.name)) definitions.set(prop.name, prop);
    this.binders = Object.entries(props).map(([name, prop]) => [
      name,
      binderOf(prop, resolvedIn(definitions, name), tools),
    ]);
    this.methods = isObject(component.methods) ? Object.entries(component.methods) : [];
  }

  /** The same component with other props. */
  boundTo(props: Readonly<Record<string, BoundProp>>, dynamicProps?: readonly ConfigurableProp[]): BoundComponent {
    return new BoundComponent(this.component, props, this.tools, dynamicProps);
  }

  thisOf(execution: Execution): Self {
    const self: Self = {};
    for (const [name, method] of this.methods) self[name] = isMethod(method) ? method.bind(self) : method;
    // A prop wins over a method of the same name.
    for (const [name, bind] of this.binders) self[name] = bind(execution);
    self.$emit = execution.emit;
    return self;
  }

  /** The props with a value of the user, as a run sees them. */
  configuredIn(self: Self): Self {
    return Object.fromEntries(
      Object.keys(this.props).flatMap((name) => (this.isValue(name) ? [[name, self[name]]] : [])),
    );
  }

  private isValue(name: string): boolean {
    const kind = this.props[name]?.kind;
    return kind === 'value' || kind === 'request';
  }

  /**
   * Without `run`, emits the text of the event as it came, because numbers and duplicate keys would not survive its parsing
   * (docs/reference/component-model.md#run-missing).
   */
  run(execution: Execution, event: string, body?: BodyRange): unknown {
    const { run } = this.component;
    if (!isMethod(run)) return execution.passOn(wholeEvent(event, body));
    return run.call(this.thisOf(execution), parsedEvent(event, body));
  }

  /** Runs an action. It has no `$emit`. */
  act(execution: Execution, argument: unknown): unknown {
    const { run } = this.component;
    if (!isMethod(run)) throw new TypeError('the component has no method run');
    const self = this.thisOf(execution);
    if (self.$emit === execution.emit) Reflect.deleteProperty(self, '$emit');
    return run.call(self, argument);
  }

  hook(execution: Execution, name: ProcessCall): unknown {
    if (name === SAMPLE_EMIT) return this.emitSample(execution);
    const hooks = this.component.hooks;
    const hook = isObject(hooks) ? hooks[name] : undefined;
    return isMethod(hook) ? hook.call(this.thisOf(execution)) : undefined;
  }

  private emitSample(execution: Execution): unknown {
    const { sampleEmit } = this.component;
    if (sampleEmit !== undefined && !isMethod(sampleEmit)) return execution.emit(sampleEmit);
    const found = sampleEmit === undefined ? 'nothing' : 'a function';
    throw Object.assign(new Error(`the component must export an event as sampleEmit; it exports ${found}`), {
      code: NO_SAMPLE_EMIT,
    });
  }
}
