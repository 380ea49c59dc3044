import { type ComponentCall } from '#libs/component-model/component-call.js';
import { type DataStoreAccess } from '#libs/component-model/data-store-calls.js';
import { type HookName } from '#libs/component-model/hooks.js';
import { type BodyRange } from '#libs/component-model/http-event.js';
import { type HttpReply, type UserError } from '#libs/component-model/run-output.js';
import {
  BundleNotLoaded,
  type ClosableSandboxFactory,
  createSandboxFactory,
  type RunOutcome,
  type Sandbox,
  SandboxGone,
  type SandboxSpec,
  userError,
} from '#libs/sandbox/index.js';
import { type BoundProps, SOURCE, WORKSPACE } from './bound-props.js';
import { type BuiltComponent, testLevel, withFile } from './built-component.js';
import { type LinkAnswers, LinkServer } from './link-server.js';

/** Real time after which code that does not end is ended, as on a server. */
const TIMEOUT_MS = 60_000;
/** Longest wait of one run by the clock of the test. Code that waits longer never goes on. */
const LONGEST_WAIT_MS = 366 * 86_400_000;

/** Time by the clock of the test, in epoch milliseconds. */
export interface TestClock {
  now: number;
}

export interface ProcessOptions {
  readonly component: BuiltComponent;
  readonly props: BoundProps;
  readonly request: LinkAnswers['request'];
  readonly stores: DataStoreAccess;
}

/** The process of a component under test, with its clock. It starts again when it ended, as on a server. */
export class ComponentProcess {
  private factory: ClosableSandboxFactory | undefined;
  private link: LinkServer | undefined;
  private sandbox: Sandbox | undefined;
  private startedAt = 0;
  private ended: UserError | undefined;

  constructor(
    private readonly options: ProcessOptions,
    private readonly clock: TestClock,
  ) {}

  run(
    event: string,
    body: BodyRange | undefined,
    db: Readonly<Record<string, string>>,
    onImmediateResponse: (reply: HttpReply) => void,
  ): Promise<RunOutcome> {
    const request = { invocationId: 'inv_test', event, body, timeoutMs: TIMEOUT_MS, onImmediateResponse };
    return this.measured(db, (sandbox) => sandbox.run(request));
  }

  hook(hook: HookName, db: Readonly<Record<string, string>>): Promise<RunOutcome> {
    return this.measured(db, (sandbox) => sandbox.hook(hook, TIMEOUT_MS));
  }

  ask(call: ComponentCall): Promise<RunOutcome> {
    const { bound } = this.options.props;
    return this.measured({}, (sandbox) => sandbox.ask({ call, props: bound, ...this.dynamicProps }, TIMEOUT_MS));
  }

  async close(): Promise<void> {
    await this.sandbox?.stop();
    await this.factory?.close();
    await this.link?.close();
  }

  /** Ends the process, so that the next run starts one with the kept content of the db. */
  async restart(): Promise<void> {
    await this.sandbox?.stop();
    this.sandbox = undefined;
  }

  private get dynamicProps(): Pick<SandboxSpec, 'dynamicProps'> {
    const { dynamicProps } = this.options.props.definition;
    return dynamicProps === undefined ? {} : { dynamicProps };
  }

  /** The times of the outcome are those of the test. */
  private async measured(
    db: Readonly<Record<string, string>>,
    act: (sandbox: Sandbox) => Promise<RunOutcome>,
  ): Promise<RunOutcome> {
    const startedAt = this.clock.now;
    this.startedAt = startedAt;
    this.ended = undefined;
    const outcome = await this.outcomeOf(db, act);
    outcome.held?.release();
    const { ended } = this;
    return { ...outcome, ...(ended === undefined ? {} : { error: ended }), startedAt, endedAt: this.clock.now };
  }

  private async outcomeOf(
    db: Readonly<Record<string, string>>,
    act: (sandbox: Sandbox) => Promise<RunOutcome>,
  ): Promise<RunOutcome> {
    try {
      if (this.sandbox?.alive() !== true) this.sandbox = await this.start(db);
      return await act(this.sandbox);
    } catch (error) {
      if (error instanceof BundleNotLoaded) return failed(error.userError);
      if (error instanceof SandboxGone) return failed(userError('ProcessExited', error.message));
      throw error;
    }
  }

  private async start(db: Readonly<Record<string, string>>): Promise<Sandbox> {
    const { component, props, stores, request } = this.options;
    const link = (this.link ??= await LinkServer.open({
      now: () => this.clock.now,
      waitedUntil: (at) => this.waitedUntil(at),
      isStuck: () => this.end(STUCK),
      request,
    }));
    this.factory ??= createSandboxFactory({
      level: await testLevel(),
      egressSocket: () => Promise.resolve(link.path),
      dataStores: stores,
      child: 'test',
    });
    const { factory } = this;
    const names = { sourceId: SOURCE, workspaceId: WORKSPACE };
    const part = { ...names, props: props.bound, ...this.dynamicProps, db, concurrency: 1 };
    return withFile(component.bundle, (bundleFile) => factory.start({ ...part, bundleFile, sendsRequests: true }));
  }

  private waitedUntil(at: number): boolean {
    if (at - this.startedAt > LONGEST_WAIT_MS) {
      this.end(ENDLESS);
      return false;
    }
    this.clock.now = Math.max(this.clock.now, at);
    return true;
  }

  /** The process ends, and with it what it runs. */
  private end(message: string): void {
    this.ended = userError('Timeout', message);
    void this.sandbox?.stop();
  }
}

const STUCK =
  'the run waits for what never comes: no timer, request or file is open. On a server it would end by its time limit. Look for a promise that nothing resolves';
const ENDLESS = 'the run waited for a year by the clock of the test. On a server it would end by its time limit';

const failed = (error: UserError): RunOutcome => ({
  status: 'threw',
  error,
  emits: [],
  logs: [],
  dbChanges: {},
  startedAt: 0,
  endedAt: 0,
});
