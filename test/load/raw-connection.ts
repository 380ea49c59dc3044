import { connect, type Socket } from 'node:net';
import { type Connection, type Prepared } from './connection.js';

/**
 * One kept-alive HTTP/1.1 connection that costs the load generator as little as possible. It sends prepared requests,
 * reads status line and content-length, and has one request in flight.
 */
export class RawConnection implements Connection {
  private socket: Socket;
  private input = '';
  private waiting: ((status: number) => void) | undefined;

  constructor(
    private readonly host: string,
    private readonly port: number,
  ) {
    this.socket = this.open();
  }

  send({ head, body }: Prepared, answered: (status: number) => void): void {
    this.waiting = answered;
    if (this.socket.destroyed) this.socket = this.open();
    this.socket.write(head + body, 'latin1');
  }

  close(): void {
    this.socket.destroy();
  }

  private open(): Socket {
    const socket = connect({ host: this.host, port: this.port, noDelay: true });
    socket.setEncoding('latin1');
    this.input = '';
    socket.on('data', (text: string) => this.receive(text));
    // 'close' follows an 'error' and answers the waiting call.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      if (socket === this.socket) this.answered(0);
    });
    return socket;
  }

  private receive(text: string): void {
    this.input += text;
    const headEnd = this.input.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const head = this.input.slice(0, headEnd).toLowerCase();
    const end = this.answerEnd(head, headEnd + 4);
    if (end === undefined) return;
    const status = Number(this.input.slice(9, 12));
    this.input = this.input.slice(end);
    this.answered(status);
  }

  /** undefined while a part is missing. Our chunked answers end with the last chunk. */
  private answerEnd(head: string, bodyStart: number): number | undefined {
    if (head.startsWith('http/1.1 204')) return bodyStart;
    const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
    if (length !== undefined) {
      const end = bodyStart + Number(length);
      return this.input.length < end ? undefined : end;
    }
    const last = this.input.indexOf('0\r\n\r\n', bodyStart);
    return last < 0 ? undefined : last + 5;
  }

  private answered(status: number): void {
    const waiting = this.waiting;
    this.waiting = undefined;
    waiting?.(status);
  }
}
