import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

type Handlers = Record<string, (options: never) => unknown>;

interface Call {
  readonly call: number;
  readonly name: string;
  readonly options: unknown;
}

interface Outcome {
  readonly call: number;
  readonly result?: unknown;
  readonly error?: string;
}

/**
 * Runs in a part's process. Answers calls of the benchmark and reports where the part listens. Ends with the benchmark.
 */
export const servePart = (handlers: Handlers, url: string): void => {
  process.on('disconnect', () => process.exit(0));
  process.on('message', (message: Call) => void answer(handlers, message));
  process.send?.({ url });
};

const answer = async (handlers: Handlers, { call, name, options }: Call): Promise<void> => {
  const handler = handlers[name];
  try {
    if (!handler) throw new Error(`no call ${name}`);
    process.send?.({ call, result: await handler(options as never) } satisfies Outcome);
  } catch (error) {
    process.send?.({ call, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
};

/** Runs in the benchmark. One part in its own process, so that its CPU time can be measured separately. */
export class PartProcess<A extends { [K in keyof A]: (options: never) => unknown }> {
  private calls = 0;
  private readonly open = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();

  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
    readonly pid: number,
  ) {
    child.on('message', ({ call, result, error }: Outcome) => {
      const waiting = this.open.get(call);
      this.open.delete(call);
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(new Error(error));
    });
    child.once('exit', (code, signal) => {
      for (const { reject } of this.open.values()) reject(new Error(`a part ended: ${signal ?? code}`));
    });
  }

  static async start<A extends { [K in keyof A]: (options: never) => unknown }>(
    module: string,
    args: readonly string[] = [],
  ): Promise<PartProcess<A>> {
    const child = fork(fileURLToPath(new URL(module, import.meta.url)), [...args], { stdio: 'inherit' });
    const [first] = (await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(([code]) => {
        throw new Error(`${module} ended at start: ${String(code)}`);
      }),
    ])) as [{ url: string }];
    return new PartProcess<A>(child, first.url, child.pid ?? 0);
  }

  call<K extends keyof A & string>(name: K, options: Parameters<A[K]>[0]): Promise<Awaited<ReturnType<A[K]>>> {
    const call = ++this.calls;
    return new Promise((resolve, reject) => {
      this.open.set(call, { resolve: (value) => resolve(value as Awaited<ReturnType<A[K]>>), reject });
      this.child.send({ call, name, options } satisfies Call);
    });
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.disconnect();
    await ended;
  }
}
