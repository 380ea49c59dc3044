import { type JailLauncher } from './jail-launcher.js';
import { type JailSpec, type SpawnPlan } from '../jail/jail-level.js';
import { type JailedProcess, type ProcessEnd } from '../jail/jailed-process.js';
import { ProtocolBreach, type RawRecord } from '#libs/framing/records.js';

export type Outcome<T> =
  | { readonly kind: 'answer'; readonly answer: T }
  | { readonly kind: 'breach'; readonly breach: ProtocolBreach }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'ended'; readonly end: ProcessEnd };

interface Question {
  /** Reads the answer. A thrown ProtocolBreach ends the process. */
  receive(record: RawRecord): void;
  fail(breach: ProtocolBreach): void;
}

/** Jailed process that answers each record with one record, one at a time. */
export class AskedProcess {
  private asked: Question | undefined;
  private over = false;

  private constructor(private readonly child: JailedProcess) {
    void child.ended.then(() => (this.over = true));
  }

  static async start(
    house: JailLauncher,
    extras: Pick<JailSpec, 'reads' | 'startsPrograms' | 'loadsMachineCode'> = {},
    maxRecordBytes?: number,
  ): Promise<AskedProcess> {
    const holder: { process?: AskedProcess } = {};
    const child = await house.start(
      undefined,
      {
        ...(maxRecordBytes === undefined ? {} : { maxRecordBytes }),
        onRecord: (record) => {
          const asked = holder.process?.asked;
          if (!asked) throw new ProtocolBreach('a jailed process answered without being asked');
          asked.receive(record);
        },
        onRead: () => undefined,
        onBreach: (breach) => holder.process?.asked?.fail(breach),
      },
      extras,
    );
    holder.process = new AskedProcess(child);
    return holder.process;
  }

  /** True when the process no longer accepts questions. */
  get hasEnded(): boolean {
    return this.over;
  }

  get plan(): SpawnPlan {
    return this.child.plan;
  }

  /** Settles once the process has ended. */
  get ended(): Promise<unknown> {
    return this.child.ended;
  }

  /** Sends one record and awaits its answer. Kills the process on any other outcome. */
  async ask<T>(record: Buffer, timeoutMs: number, read: (record: RawRecord) => T): Promise<Outcome<T>> {
    let timer: NodeJS.Timeout | undefined;
    const answered = new Promise<Outcome<T>>((resolve) => {
      this.asked = {
        receive: (answer) => {
          resolve({ kind: 'answer', answer: read(answer) });
          this.asked = undefined;
        },
        fail: (breach) => resolve({ kind: 'breach', breach }),
      };
      timer = setTimeout(() => resolve({ kind: 'timeout' }), timeoutMs);
      this.child.send(record);
    });
    const ended = this.child.ended.then((end): Outcome<T> => ({ kind: 'ended', end }));
    const outcome = await Promise.race([answered, ended]);
    clearTimeout(timer);
    this.asked = undefined;
    if (outcome.kind !== 'answer') this.kill();
    return outcome;
  }

  /** It takes no question from here on, although its end is heard of later. */
  kill(): void {
    this.over = true;
    this.child.kill();
  }
}
