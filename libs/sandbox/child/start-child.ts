import { Socket } from 'node:net';
import os from 'node:os';
import { NO_RUN } from '../protocol/late-work.js';
import { type ChildSettings, type HostMessage, type DescribedAs } from '../protocol/protocol.js';
import { DOWN_FD, MAX_RECORD_BYTES, RecordParser, type RawRecord } from '#libs/framing/records.js';
import { type ProcessCall } from '#libs/component-model/hooks.js';
import { type BoundCall } from '../sandbox.js';
import { answerCall } from './answer-call.js';
import { captureConsole, currentExecution, endOnStrayErrors } from './attribution.js';
import { BoundComponent, componentOf, type PropTools } from './component.js';
import { describeComponent } from './describe.js';
import { tunnelSockets } from './egress-socket.js';
import { lookUpNames } from './names.js';
import { textOfError } from './error-text.js';
import { Execution } from './execution.js';
import { writesIn } from './access-hint.js';
import { InvalidComponent } from './invalid-component.js';
import { LateWork } from './late-work.js';
import { LoadedState } from './loaded-state.js';
import { offerBindings } from './node-stand-ins.js';
import { openMapped, usePackages } from './load-bundle.js';
import { requestSender } from './request-sender.js';
import { RunQueue } from './run-queue.js';
import { SourceDb } from './source-db.js';
import { StepBundles } from './step-bundles.js';
import { StoreLink } from './store-link.js';
import { Uplink } from './uplink.js';
import { Waiting } from './waiting.js';
import { offerWrappers } from './wrappers.js';

const uplink = new Uplink();
const late = new LateWork(uplink);
const stores = new StoreLink(uplink, late);

/** The child as what stands before it sees it. */
export interface RunningChild {
  receive(record: RawRecord): void;
  /** True while code of a run, hook or call may execute. */
  isActive(): boolean;
}

class Child implements RunningChild {
  private readonly active = new Map<number, Execution>();
  private db = new SourceDb({});
  private readonly waiting = new Waiting();
  private component: BoundComponent | undefined;
  private bundles: StepBundles | undefined;
  /** State before the first call. */
  private loaded: LoadedState | undefined;
  private readonly queue = new RunQueue((n, event, body) =>
    this.execute(n, this.endRun, (execution) => this.loadedComponent().run(execution, event, body)),
  );

  constructor() {
    endOnStrayErrors(
      () => this.active.values(),
      (thrown) => this.outsideOfRuns(thrown),
    );
  }

  readonly receive = (record: RawRecord): void => {
    const message = JSON.parse(record.json.toString('utf8')) as HostMessage;
    switch (message.t) {
      case 'init':
        return this.init(message.settings, record.raw);
      case 'run':
        return this.queue.add(message.runs, record.raw);
      case 'waiting':
        return this.waiting.told(message.events);
      case 'drop':
        this.queue.drop();
        return uplink.send(['g']);
      case 'hook':
        return this.hook(message.n, message.hook);
      case 'bundle':
        return this.bundles?.add(message.bundle, record.raw);
      case 'ask':
        return this.ask(message.n, message.bundle, boundCallIn(record.raw, message.stepsBytes));
      case 'a':
        return stores.answered(message.id, record.raw.toString('utf8'), message.error);
      case 'triggered':
        return this.active.get(message.n)?.answered(message.id, record.raw.toString('utf8'), message.error);
    }
  };

  isActive(): boolean {
    return this.active.size > 0;
  }

  private init(settings: ChildSettings, raw: Buffer): void {
    for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
    Object.assign(process.env, settings.env);
    tunnelSockets(settings.egress);
    lookUpNames(settings.egress, () => currentExecution.getStore());
    liveIn(settings.tmp);
    this.queue.concurrency = settings.concurrency;
    this.db = new SourceDb(settings.db);
    writesIn(settings.tmp, settings.tmpMb);
    usePackages(settings.packages);
    if (!settings.hasBundle) return this.awaitBundles(settings);
    openMapped(0, raw, (exports) => {
      if (settings.inspect !== null) this.inspect(exports, settings.inspect);
      else this.load(exports, settings);
      uplink.flush();
    });
  }

  private awaitBundles(settings: ChildSettings): void {
    this.bundles = new StepBundles(toolsOf(settings));
    uplink.send(['ready']);
    uplink.flush();
  }

  private load(exports: () => unknown, settings: ChildSettings): void {
    try {
      const { props, dynamicProps } = settings;
      this.component = new BoundComponent(componentOf(exports()), props, toolsOf(settings), dynamicProps);
      uplink.send(['ready']);
    } catch (thrown) {
      uplink.send(['loadfail', textOfError(thrown)]);
    }
  }

  private inspect(exports: () => unknown, as: DescribedAs): void {
    try {
      const metadata = describeComponent(componentOf(exports()), as);
      uplink.send(['meta'], JSON.stringify(metadata));
    } catch (thrown) {
      if (thrown instanceof InvalidComponent) uplink.send(['invalid', thrown.message, thrown.prop]);
      else uplink.send(['loadfail', textOfError(thrown)]);
    }
  }

  /**
   * Reports an error of the module outside of any run, once it is loaded. An earlier report would count as its
   * description.
   */
  private outsideOfRuns(thrown: unknown): void {
    if (this.component || this.bundles) late.error(NO_RUN, thrown);
  }

  private readonly endRun = (execution: Execution): void => {
    this.active.delete(execution.n);
    this.queue.ended();
  };

  private hook(n: number, hook: ProcessCall): void {
    const end = (execution: Execution): void => void this.active.delete(execution.n);
    this.execute(n, end, (execution) => this.loadedComponent().hook(execution, hook));
  }

  /**
   * After a call that ends before the state was compared, such as by an uncaught error, the process serves no other
   * call. A process with several bundles serves calls at the same time, so nothing is compared.
   */
  private ask(n: number, bundle: number, { call, props, dynamicProps }: BoundCall): void {
    const end = (execution: Execution): void => void this.active.delete(execution.n);
    const { bundles } = this;
    const db = new SourceDb(call.kind === 'step' ? (call.facts.db ?? {}) : {});
    const inBundles = async (execution: Execution): Promise<void> => {
      const component = await bundles?.component(bundle);
      if (component) await answerCall(component.boundTo(props, dynamicProps), execution, call);
    };
    if (bundles) return this.execute(n, end, inBundles, db);
    const loaded = (this.loaded ??= new LoadedState(process.cwd()));
    const alone = async (execution: Execution): Promise<void> => {
      execution.spends = true;
      try {
        await answerCall(this.loadedComponent().boundTo(props, dynamicProps), execution, call);
      } finally {
        execution.spends = !(stores.isIdle && (await loaded.isBack()));
      }
    };
    this.execute(n, end, alone, db);
  }

  private execute(
    n: number,
    onEnd: (execution: Execution) => void,
    call: (execution: Execution) => unknown,
    db = this.db,
  ): void {
    const execution = new Execution(n, uplink, db, this.waiting, late, onEnd);
    this.active.set(n, execution);
    execution.begin();
    void currentExecution.run(execution, invoke, execution, call);
  }

  private loadedComponent(): BoundComponent {
    if (this.component) return this.component;
    throw new Error('the component is not loaded');
  }
}

/** The text of `steps` comes last, and is parsed by the step alone. */
const boundCallIn = (raw: Buffer, stepsBytes: number): BoundCall => {
  const end = raw.length - stepsBytes;
  const bound = JSON.parse(raw.toString('utf8', 0, end)) as BoundCall;
  const { call } = bound;
  if (call.kind !== 'step') return bound;
  return { ...bound, call: { ...call, facts: { ...call.facts, steps: raw.toString('utf8', end) } } };
};

const toolsOf = ({ tmp, requestClient }: ChildSettings): PropTools => ({
  tmp,
  sendRequest: requestSender(requestClient),
  stores,
});

const invoke = async (execution: Execution, call: (execution: Execution) => unknown): Promise<void> => {
  try {
    await call(execution);
    execution.end();
  } catch (thrown) {
    execution.end({ thrown });
  }
};

/** Fakes an account and a home directory for packages that ask for them while loading. */
const liveIn = (tmp: string): void => {
  process.chdir(tmp);
  os.tmpdir = () => tmp;
  os.homedir = () => tmp;
  os.userInfo = (() => ({
    uid: -1,
    gid: -1,
    username: 'component',
    homedir: tmp,
    shell: null,
  })) as typeof os.userInfo;
};

/** @param receive gets each record of the host, for tests, which hold some back. */
export const startChild = (
  receive: (record: RawRecord, child: RunningChild) => void = (record, child) => child.receive(record),
): void => {
  const child = new Child();
  captureConsole();
  offerWrappers();
  offerBindings();
  process.on('exit', (code) => {
    const owner = currentExecution.getStore();
    if (owner?.over === true) late.report(owner.n, 'exit');
    else if (owner) uplink.send(['x', owner.n, code]);
    uplink.flush();
  });
  const down = new Socket({ fd: DOWN_FD, readable: true, writable: false });
  const parser = new RecordParser(MAX_RECORD_BYTES, (record) => receive(record, child));
  down.on('data', (chunk: Buffer) => parser.push(chunk));
  down.on('error', () => process.reallyExit(1));
  down.on('end', () => process.reallyExit(0));
};
