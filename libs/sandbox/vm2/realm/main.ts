/** Startup code of the vm2 realm: the child's own modules over the bridge, and a small standard library. */
import './globals.js';
import { answerCall } from '../../child/answer-call.js';
import { BoundComponent, componentOf } from '../../child/component.js';
import { describeComponent } from '../../child/describe.js';
import { textOfError } from '../../child/error-text.js';
import { Execution } from '../../child/execution.js';
import { InvalidComponent } from '../../child/invalid-component.js';
import { LateWork, quoted } from '../../child/late-work.js';
import { SourceDb } from '../../child/source-db.js';
import { mapStacks } from '../../child/source-map.js';
import { StoreLink } from '../../child/store-link.js';
import { Waiting } from '../../child/waiting.js';
import { offerWrappers } from '../../child/wrappers.js';
import { NO_RUN } from '../../protocol/late-work.js';
import { type ChildMessage } from '../../protocol/protocol.js';
import { type ComponentCall } from '../../../component-model/component-call.js';
import { type ProcessCall } from '../../../component-model/hooks.js';
import { type Realm } from '../bridge.js';
import { current, done, flush, say, sourceMap } from './bridge-end.js';
import { captureConsole } from './console.js';
import { answer } from './fetch.js';
import { define } from './globals.js';
import { requireModule } from './modules.js';
import { processOf } from './process.js';
import { type RealmSettings } from './settings.js';
import { formatStacks } from './stack.js';
import { fire, onTimerError } from './timers.js';

type Body = (
  exports: unknown,
  require: (name: string) => unknown,
  module: { exports: unknown },
  filename: string,
  dirname: string,
) => void;

const { stringify, parse } = JSON;

const uplink = {
  send: (message: ChildMessage, raw = ''): void => {
    const json = stringify(message);
    if (message[0] === 'd') done(message[1], json);
    else say(json, raw);
  },
  // The host's end of the bridge does this.
  spill: (): void => undefined,
  flushIfOlderThan: (): void => undefined,
  flush: (): void => flush(),
};

const late = new LateWork(uplink);
const stores = new StoreLink(uplink, late);
const waiting = new Waiting();
const active = new Map<number, Execution>();
let db = new SourceDb({});
let component: BoundComponent | undefined;

const endExecution = (execution: Execution): void => void active.delete(execution.n);

const execute = async (
  n: number,
  call: (component: BoundComponent, execution: Execution) => unknown,
): Promise<void> => {
  const execution = new Execution(n, uplink, db, waiting, late, endExecution);
  active.set(n, execution);
  try {
    if (!component) throw new Error('the component is not loaded');
    await call(component, execution);
    execution.end();
  } catch (thrown) {
    execution.end({ thrown });
  }
};

/**
 * Ends run `n` with an error that the component did not catch. Ends all runs when `n` is negative. Reports the error when
 * that run has ended, or there is none.
 */
const endWith = (n: number, thrown: unknown): void => {
  const owner = active.get(n);
  if (owner) return owner.end({ thrown });
  if (n >= 0) return late.error(n, thrown);
  const all = [...active.values()];
  if (all.length === 0 && component) late.error(NO_RUN, thrown);
  for (const execution of all) execution.end({ thrown });
};

const logged = (kind: string, line: string): void => {
  const n = current();
  const owner = active.get(n);
  if (owner) owner.log(kind, line);
  else if (n >= 0) late.report(n, 'log', () => quoted(line));
};

const noRequests = (): Promise<never> =>
  Promise.reject(
    new Error('http_request: execute() does not work with SLUICE_ISOLATION=vm2: send the request with fetch'),
  );

const load = (body: Body, settings: RealmSettings): void => {
  try {
    const module = { exports: {} as unknown };
    body(module.exports, requireModule, module, '/tmp/component.js', '/tmp');
    const exported = componentOf(module.exports);
    if (settings.inspect) return uplink.send(['meta'], stringify(describeComponent(exported)));
    const tools = { tmp: '/tmp', sendRequest: noRequests, stores };
    component = new BoundComponent(exported, settings.props, tools, settings.dynamicProps);
    uplink.send(['ready']);
  } catch (thrown) {
    if (settings.inspect && thrown instanceof InvalidComponent) uplink.send(['invalid', thrown.message, thrown.prop]);
    else uplink.send(['loadfail', textOfError(thrown)]);
  }
};

export const realm: Realm = {
  prepare: (text) => {
    const settings = parse(text) as RealmSettings;
    db = new SourceDb(settings.db);
    mapStacks('component.js', () => sourceMap());
    define('process', processOf(settings));
    offerWrappers();
    formatStacks();
    captureConsole(logged);
    onTimerError((thrown) => endWith(current(), thrown));
    // `$load` is removed before the component can see it.
    define('$load', (body: Body) => {
      Reflect.deleteProperty(globalThis, '$load');
      load(body, settings);
    });
  },
  run: (n, event, start, end) => {
    const body = start === undefined || end === undefined ? undefined : { start, end };
    void execute(n, (bound, execution) => bound.run(execution, event, body));
  },
  hook: (n, name) => void execute(n, (bound, execution) => bound.hook(execution, name as ProcessCall)),
  waiting: (count, bytes) => waiting.told({ count, bytes }),
  ask: (n, call) => void execute(n, (bound, execution) => answerCall(bound, execution, parse(call) as ComponentCall)),
  stored: (id, value, code, message) => stores.answered(id, value, code === '' ? undefined : { code, message }),
  fire,
  answer,
  fail: (n, name, message) => {
    const error = new Error(message);
    error.name = name;
    error.stack = '';
    endWith(n, error);
  },
};
