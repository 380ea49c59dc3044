import { BSON, type Document } from 'mongodb';

/** The two kinds of requests that the driver sends, and their answers. */
const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const HEADER_BYTES = 16;

export interface Message {
  readonly id: number;
  readonly responseTo: number;
  readonly opCode: number;
  readonly bytes: Buffer;
}

/** Cuts a stream into messages. */
export class MessageCutter {
  private buffered = Buffer.alloc(0);

  push(chunk: Buffer): readonly Message[] {
    this.buffered = Buffer.concat([this.buffered, chunk]);
    const messages: Message[] = [];
    while (this.buffered.length >= 4 && this.buffered.length >= this.buffered.readInt32LE(0)) {
      const bytes = this.buffered.subarray(0, this.buffered.readInt32LE(0));
      this.buffered = this.buffered.subarray(bytes.length);
      messages.push({
        id: bytes.readInt32LE(4),
        responseTo: bytes.readInt32LE(8),
        opCode: bytes.readInt32LE(12),
        bytes,
      });
    }
    return messages;
  }
}

/** Keeps the types of numbers, because another type would not be a valid cursor. */
const PROMOTE = { promoteValues: false, promoteLongs: false, promoteBuffers: false } as const;

/** The command, with the documents of its sequences as ordinary arrays. */
export const commandOf = ({ opCode, bytes }: Message): Document => {
  if (opCode === OP_QUERY) {
    const name = bytes.indexOf(0, HEADER_BYTES + 4) + 1;
    return documentAt(bytes, name + 8).document;
  }
  if (opCode !== OP_MSG) throw new Error(`a request of kind ${opCode} is not known here`);
  const command: Document = {};
  for (let at = HEADER_BYTES + 4; at < bytes.length;) {
    const kind = bytes[at++];
    if (kind === 0) {
      const { document, end } = documentAt(bytes, at);
      Object.assign(command, document);
      at = end;
      continue;
    }
    const end = at + bytes.readInt32LE(at);
    const nameEnd = bytes.indexOf(0, at + 4);
    const sequence: Document[] = [];
    const name = bytes.toString('utf8', at + 4, nameEnd);
    for (at = nameEnd + 1; at < end;) {
      const next = documentAt(bytes, at);
      sequence.push(next.document);
      at = next.end;
    }
    command[name] = sequence;
  }
  return command;
};

const documentAt = (bytes: Buffer, at: number): { readonly document: Document; readonly end: number } => {
  const end = at + bytes.readInt32LE(at);
  return { document: BSON.deserialize(bytes.subarray(at, end), PROMOTE), end };
};

/** The document of an answer. */
export const answerOf = ({ opCode, bytes }: Message): Document =>
  documentAt(bytes, HEADER_BYTES + (opCode === OP_REPLY ? 20 : 5)).document;

export const requestBytes = (id: number, command: Document): Buffer =>
  message(id, 0, OP_MSG, [msgHead(), encoded(command)]);

/** The answer to a request, in the form in which the request came. */
export const answerBytes = (request: Message, answer: Document): Buffer =>
  request.opCode === OP_QUERY
    ? message(request.id, request.id, OP_REPLY, [replyHead(), encoded(answer)])
    : message(request.id, request.id, OP_MSG, [msgHead(), encoded(answer)]);

const encoded = (document: Document): Buffer => Buffer.from(BSON.serialize(document, { ignoreUndefined: true }));

/** No flags, and one section of kind 0. */
const msgHead = (): Buffer => Buffer.alloc(5);

/** No flags and no cursor, and one document. */
const replyHead = (): Buffer => {
  const head = Buffer.alloc(20);
  head.writeInt32LE(1, 16);
  return head;
};

const message = (id: number, responseTo: number, opCode: number, parts: readonly Buffer[]): Buffer => {
  const head = Buffer.alloc(HEADER_BYTES);
  const bytes = Buffer.concat([head, ...parts]);
  bytes.writeInt32LE(bytes.length, 0);
  bytes.writeInt32LE(id, 4);
  bytes.writeInt32LE(responseTo, 8);
  bytes.writeInt32LE(opCode, 12);
  return bytes;
};
