import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { messageOf } from '#libs/kernel/error-message.js';
import { type AnsweredRequest, type SentRequest, TEST_LINE_BYTES } from '#libs/sandbox/index.js';

/** What the process of a component asks its test. */
export interface LinkAnswers {
  now(): number;
  /** The code waits until this time. False when it may wait no longer. */
  waitedUntil(at: number): boolean;
  /** The code waits for nothing that can come. */
  isStuck(): void;
  /** Rejects with the error that the request fails with. */
  request(request: SentRequest): Promise<AnsweredRequest>;
}

/** Answers the process of one component, over a socket that stands for its network. */
export class LinkServer {
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer({ allowHalfOpen: true }, (socket) => this.serve(socket));

  private constructor(
    private readonly folder: string,
    private readonly answers: LinkAnswers,
  ) {}

  static async open(answers: LinkAnswers): Promise<LinkServer> {
    const folder = await mkdtemp(path.join(tmpdir(), 'sluice-test-link-'));
    const link = new LinkServer(folder, answers);
    link.server.listen(link.path);
    await once(link.server, 'listening');
    // Jailed processes run as other users, who may traverse the folder but not list it.
    await chmod(folder, 0o711);
    await chmod(link.path, 0o666);
    return link;
  }

  get path(): string {
    return path.join(this.folder, 'link');
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
    await rm(this.folder, { recursive: true, force: true });
  }

  private serve(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    // The process ended in the meantime.
    socket.on('error', () => socket.destroy());
    const chunks: Buffer[] = [];
    let bytes = 0;
    const read = (chunk: Buffer): void => {
      chunks.push(chunk);
      bytes += chunk.length;
      const isTooLong = bytes > TEST_LINE_BYTES;
      if (!isTooLong && chunk.at(-1) !== LINE_END) return;
      // What comes after it is dropped.
      socket.off('data', read).resume();
      if (isTooLong) return void socket.end(`${failed(`a request of more than ${TEST_LINE_BYTES} bytes`)}\n`);
      const line = Buffer.concat(chunks).toString('utf8').trimEnd();
      void this.answerTo(line).then((answer) => socket.end(`${answer}\n`));
    };
    socket.on('data', read);
  }

  private async answerTo(line: string): Promise<string> {
    const space = line.indexOf(' ');
    const [verb, rest] = space < 0 ? [line, ''] : [line.slice(0, space), line.slice(space + 1)];
    try {
      return `OK ${await this.answer(verb, rest)}`;
    } catch (error) {
      return failed(messageOf(error));
    }
  }

  private async answer(verb: string, rest: string): Promise<string> {
    const { answers } = this;
    switch (verb) {
      case 'NOW':
        return String(answers.now());
      case 'WAITED':
        return answers.waitedUntil(Number(rest)) ? 'more' : 'no more';
      case 'STUCK':
        answers.isStuck();
        return '';
      case 'REQUEST':
        return JSON.stringify(await answers.request(JSON.parse(rest) as SentRequest));
      default:
        // CONNECT of a socket, LOOKUP of a name.
        throw new Error(
          `a test has no network, and answers only fetch, http and https, not ${verb} ${rest.slice(0, 200)}`,
        );
    }
  }
}

const LINE_END = '\n'.charCodeAt(0);

const failed = (message: string): string => `ERR EACCES ${message.replaceAll(/\s*\n\s*/g, ' ')}`;
