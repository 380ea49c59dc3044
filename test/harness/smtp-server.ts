import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface ReceivedMail {
  readonly to: readonly string[];
  readonly text: string;
}

/** The server's program. It writes its port, then a line of JSON for each mail. */
const PROGRAM = `
  import { SMTPServer } from 'smtp-server';
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, { envelope }, done) {
      const chunks = [];
      stream.on('data', (chunk) => chunks.push(chunk));
      stream.on('end', () => {
        const to = envelope.rcptTo.map(({ address }) => address);
        console.log(JSON.stringify({ to, text: Buffer.concat(chunks).toString() }));
        done();
      });
    },
  });
  server.listen(Number(process.argv[1] ?? 0), '127.0.0.1', () => console.log(server.server.address().port));
`;

/** A mail server in a process of its own. */
export class SmtpServer {
  readonly received: ReceivedMail[] = [];

  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
  ) {}

  /** @param port a port that was free before; any free one by default. */
  static async start(port = 0): Promise<SmtpServer> {
    const args = ['--input-type=module', '-e', PROGRAM, String(port)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout });
    const [first] = (await once(lines, 'line')) as [string];
    const server = new SmtpServer(child, Number(first));
    lines.on('line', (line) => server.received.push(JSON.parse(line) as ReceivedMail));
    return server;
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill();
    await ended;
  }
}
