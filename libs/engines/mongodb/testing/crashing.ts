import { type Collection, type Db, type Document } from 'mongodb';
import { type LogRecord, type StreamLog } from '#libs/stream-log/stream-log.js';

/** One call to a store: `collection.operation`, or `log.publish`. */
export interface Step {
  readonly name: string;
  /** Number of earlier calls of this name. */
  readonly nth: number;
}

/** Whether the crash comes before the call, or after it so that only the answer is lost. The process stays dead. */
export type Crash = 'before' | 'after';

/** The stores of a process that dies at a chosen step. No later call is answered. */
export class CrashingProcess {
  readonly steps: string[] = [];
  private dead = false;
  private readonly counts = new Map<string, number>();

  constructor(private readonly crashAt: (step: Step) => Crash | undefined) {}

  isDead(): boolean {
    return this.dead;
  }

  db(real: Db): Db {
    return new Proxy(real, {
      get: (target, name) =>
        name === 'collection'
          ? (...args: Parameters<Db['collection']>) => this.collection(target.collection(...args))
          : (Reflect.get(target, name) as unknown),
    });
  }

  log(real: StreamLog): StreamLog {
    return new Proxy(real, {
      get: (target, name) =>
        name === 'publish'
          ? (records: readonly LogRecord[]) => this.step('log.publish', () => target.publish(records))
          : (Reflect.get(target, name) as unknown),
    });
  }

  private collection(real: Collection<Document>): Collection<Document> {
    const watched = new Set(['insertOne', 'updateOne', 'findOne', 'deleteOne', 'deleteMany']);
    return new Proxy(real, {
      get: (target, name) => {
        const value = Reflect.get(target, name) as unknown;
        if (typeof name !== 'string' || !watched.has(name) || typeof value !== 'function') return value;
        return (...args: unknown[]): Promise<unknown> =>
          this.step(`${target.collectionName}.${name}`, () => value.apply(target, args) as Promise<unknown>);
      },
    });
  }

  private async step<T>(name: string, act: () => Promise<T>): Promise<T> {
    if (this.dead) return new Promise<T>(() => undefined);
    const nth = this.counts.get(name) ?? 0;
    this.counts.set(name, nth + 1);
    this.steps.push(name);
    const crash = this.crashAt({ name, nth });
    if (crash === undefined) return act();
    this.dead = true;
    if (crash === 'after') await act();
    return new Promise<T>(() => undefined);
  }
}
