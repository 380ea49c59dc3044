import { type Socket } from 'node:net';

/** The readable part of an answer that the HTTP client refused: `answer` of the error with which its request fails. */
export interface ReadAnswer {
  /** 200 to 999. */
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** Bytes that arrived with the headers, as sent. */
  readonly body: Buffer;
}

/** Headers beyond this are passed to the client unread. The client refuses them, and the status line counts. */
const MAX_HEAD_BYTES = 64 * 1024;
/** Informational answers (1xx) of one request together. */
const MAX_INTERIM_BYTES = 1024 * 1024;

const LF = 10;
const CR = 13;
const NO_BYTES = Buffer.alloc(0);
const STATUS_LINE = /^HTTP\/\d+(?:\.\d+)?[ \t]{1,16}([1-9]\d\d)(?!\d)/i;
const STATUS_LINE_BYTES = 40;
const RETRY_AFTER = /[\r\n]retry-after[ \t]*:[ \t]*([^\r\n]*)/i;

/**
 * Reads the heads of answers before the HTTP client, which refuses many that are readable
 * (docs/reference/delivery.md#answers-read). Drops informational answers, which the client treats as an error. Passes
 * on a final head once it is complete. If the connection fails later, for example because the client refuses the head,
 * the error gets the ReadAnswer as `answer`. The client closes such a connection, so no second request is sent on it.
 *
 * Replaces `read` and `write` of the socket, because another stream in between would cost each delivery a copy. Undici
 * reads only with `read`, and writes a request only once the answer before it is complete.
 */
export const readAnswers = (socket: Socket): void => {
  const head = new AnswerHead();
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket) as (...args: readonly unknown[]) => boolean;
  socket.read = (size?: number): unknown => {
    for (;;) {
      const chunk = read(size) as Buffer | null;
      if (chunk === null || !head.isExpected) return chunk;
      const passed = head.take(chunk);
      if (passed instanceof Error) {
        socket.destroy(passed);
        return null;
      }
      if (passed !== undefined) return passed;
    }
  };
  socket.write = (...args: readonly unknown[]): boolean => {
    head.expect();
    return write(...args);
  };
  // Added before the client's own listener, which follows after the connect.
  socket.on('error', (error) => {
    const answer = head.answer();
    if (answer !== undefined) Object.assign(error, { answer });
  });
};

/** Finds the final head among the bytes that follow a request. */
class AnswerHead {
  /** A request was written, and the final head has not been passed on. */
  isExpected = false;
  /** Bytes of the head: a part of one chunk, or a separate buffer. */
  private bytes: Buffer = NO_BYTES;
  private length = 0;
  private scanned = 0;
  private end = -1;
  private interim = 0;
  // State of the scan.
  private started = false;
  private lineEnded = false;
  private returns = 0;

  expect(): void {
    this.isExpected = true;
    this.interim = 0;
    this.reset(NO_BYTES);
  }

  /** Returns what the client may read now, or undefined until more bytes arrive, or why the connection must end. */
  take(chunk: Buffer): Buffer | Error | undefined {
    this.append(chunk);
    for (;;) {
      const end = this.findEnd();
      const start = this.startOf(STATUS_LINE_BYTES);
      if (start.length >= 4 && !/^HTTP/i.test(start)) return this.handOver(end);
      const isInterim = STATUS_LINE.exec(start)?.[1]?.startsWith('1') === true;
      if (!isInterim) return end >= 0 || this.length > MAX_HEAD_BYTES ? this.handOver(end) : undefined;
      this.interim += end < 0 ? 0 : end;
      if (this.interim > MAX_INTERIM_BYTES || (end < 0 && this.length > MAX_HEAD_BYTES)) return tooMuchInterim();
      if (end < 0) return undefined;
      this.reset(this.bytes.subarray(end, this.length));
      if (this.length === 0) return undefined;
    }
  }

  /** The arrived part of the answer, with its final status. */
  answer(): ReadAnswer | undefined {
    const head = this.startOf(this.end < 0 ? this.length : this.end);
    const status = Number(STATUS_LINE.exec(head)?.[1] ?? 0);
    if (status < 200) return undefined;
    const retryAfter = RETRY_AFTER.exec(head)?.[1]?.trim();
    return { status, retryAfter, body: this.end < 0 ? NO_BYTES : this.bytes.subarray(this.end, this.length) };
  }

  /** Text of the first bytes without the empty lines before it. */
  private startOf(bytes: number): string {
    return this.bytes.toString('latin1', 0, Math.min(this.length, bytes)).replace(/^[\r\n]+/, '');
  }

  private handOver(end: number): Buffer {
    this.isExpected = false;
    this.end = end;
    return this.bytes.subarray(0, this.length);
  }

  private reset(bytes: Buffer): void {
    this.bytes = bytes;
    this.length = bytes.length;
    this.scanned = 0;
    this.end = -1;
    this.started = false;
    this.lineEnded = false;
    this.returns = 0;
  }

  /** Copies only when a head arrives in several chunks, into a buffer that doubles. */
  private append(chunk: Buffer): void {
    if (this.length === 0) {
      this.bytes = chunk;
      this.length = chunk.length;
      return;
    }
    const length = this.length + chunk.length;
    if (length > this.bytes.length) {
      const grown = Buffer.allocUnsafe(2 * length);
      this.bytes.copy(grown, 0, 0, this.length);
      this.bytes = grown;
    }
    chunk.copy(this.bytes, this.length);
    this.length = length;
  }

  /** Returns the place after the empty line that ends the head, or -1. Lines end with CRLF, LF or CR. */
  private findEnd(): number {
    const { bytes, length } = this;
    for (let at = this.scanned; at < length; at++) {
      const byte = bytes[at];
      if (byte !== LF && byte !== CR) {
        this.started = true;
        this.lineEnded = false;
        this.returns = 0;
      } else if (!this.started) continue;
      else if (byte === LF) {
        if (this.lineEnded) return at + 1;
        this.lineEnded = true;
        this.returns = 0;
      } else if (++this.returns >= 2 && !this.lineEnded && isNoLineEnd(bytes, at + 1, length)) return at + 1;
    }
    this.scanned = length;
    return -1;
  }
}

const isNoLineEnd = (bytes: Buffer, at: number, length: number): boolean =>
  at >= length || (bytes[at] !== LF && bytes[at] !== CR);

const tooMuchInterim = (): Error =>
  Object.assign(new Error(`the receiver sent more than ${MAX_INTERIM_BYTES} bytes of 1xx answers before its answer`), {
    code: 'TOO_MANY_INTERIM_ANSWERS',
  });
