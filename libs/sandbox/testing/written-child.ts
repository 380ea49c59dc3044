import { type ProcessEnd } from '../jail/jailed-process.js';
import { MAX_CHILD_RECORD_BYTES, type HostMessage } from '../protocol/protocol.js';
import { MAX_RECORD_BYTES, ProtocolBreach, RecordParser } from '#libs/framing/records.js';
import { type ProcessSandbox, type SandboxProcess } from '../host/process-sandbox.js';

/** Child whose records a spec writes, read as JailedProcess reads a socket. */
export class WrittenChild implements SandboxProcess {
  readonly ended: Promise<ProcessEnd>;
  alive = true;
  breaches = 0;
  readonly told: HostMessage[] = [];
  private end: (end: ProcessEnd) => void = () => undefined;
  private sandbox: ProcessSandbox | undefined;
  private readonly parser = new RecordParser(MAX_CHILD_RECORD_BYTES, (record) => this.sandbox?.onRecord(record));

  constructor() {
    this.ended = new Promise((resolve) => (this.end = resolve));
  }

  bind(sandbox: ProcessSandbox): void {
    this.sandbox = sandbox;
  }

  /** Delivers bytes to the host. An error other than a breach would end the server. */
  say(bytes: Buffer): void {
    if (!this.alive) return;
    try {
      this.parser.push(bytes);
      this.sandbox?.onRead(this.parser.pending());
    } catch (error) {
      if (!(error instanceof ProtocolBreach)) throw error;
      this.breaches++;
      this.sandbox?.onBreach(error);
      this.kill();
    }
  }

  kill(): void {
    this.alive = false;
    this.end({ exitCode: null, signal: 'SIGKILL', outOfMemory: false, stderr: '', spilled: Buffer.alloc(0) });
  }

  send(record: Buffer): void {
    new RecordParser(MAX_RECORD_BYTES, ({ json }) => this.told.push(JSON.parse(json.toString()) as HostMessage)).push(
      record,
    );
  }
  hangUp(): void {}
  cpuMs(): undefined {
    return undefined;
  }
  pauseReading(): void {}
  resumeReading(): void {}
}
