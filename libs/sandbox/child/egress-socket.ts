import net, { type Socket } from 'node:net';
import { syncBuiltinESMExports } from 'node:module';
import tls, { type TLSSocket } from 'node:tls';

/**
 * Sends every TCP connection of this process through the egress guard's unix socket. The process sends one line
 * `CONNECT <host> <port>`. The guard answers with one line `OK` or `ERR <code> <text>`, and raw bytes follow. Host
 * names are sent unresolved. This is a convenience and not the boundary, because the jail has no other network.
 */

const REFUSED = 'EACCES';
const MAX_ANSWER = 4_096;

interface Target {
  readonly host: string;
  readonly port: number;
}

/** Undocumented parts of a socket on which its subclasses rely. */
interface OpenSocket extends Omit<Socket, 'connecting'> {
  connecting: boolean;
}

type Connect = (this: Socket, ...args: unknown[]) => Socket;

const plainConnect = Reflect.get(net.Socket.prototype, 'connect') as Connect;

/**
 * Sends the guard one line and resolves with the line of its answer. Rejects with an error whose code is the guard's.
 * @param bytes limit of the answer.
 */
export const askGuard = (egress: string, line: string, bytes: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = new net.Socket();
    const chunks: Buffer[] = [];
    let length = 0;
    socket.on('error', reject);
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > bytes) socket.destroy(new Error('the answer of the egress guard is too long'));
    });
    socket.on('close', () => {
      const [word = '', rest = ''] = splitOnce(Buffer.concat(chunks).toString('utf8').trimEnd());
      if (word === 'OK') return resolve(rest);
      const [code = '', text = ''] = splitOnce(rest);
      reject(Object.assign(new Error(text || 'the egress guard closed the connection'), { code: code || REFUSED }));
    });
    plainConnect.call(socket, { path: egress });
    socket.end(`${line}\n`);
  });

const splitOnce = (text: string): readonly string[] => {
  const space = text.indexOf(' ');
  return space < 0 ? [text] : [text.slice(0, space), text.slice(space + 1)];
};

/** Normalizes the arguments of connect. Node internally passes one array of options and listener. */
const spread = (args: readonly unknown[]): readonly unknown[] =>
  Array.isArray(args[0]) ? (args[0] as unknown[]) : args;

const optionsOf = (args: readonly unknown[]): Record<string, unknown> => {
  const [first, second] = args;
  const options: Record<string, unknown> = {};
  if (typeof first === 'object' && first !== null) Object.assign(options, first);
  else if (typeof first === 'string' && !/^\d+$/.test(first)) options.path = first;
  else Object.assign(options, { port: first }, typeof second === 'string' ? { host: second } : {});
  return options;
};

const targetOf = ({ host, port }: Record<string, unknown>): Target => ({
  host: typeof host === 'string' && host !== '' ? host : 'localhost',
  port: Number(port),
});

const failure = (code: string, text: string, { host, port }: Target): Error =>
  Object.assign(new Error(`connect ${code} ${host}:${port}${text === '' ? '' : `: ${text}`}`), {
    code,
    syscall: 'connect',
    address: host,
    port,
  });

const refuse = (socket: Socket, target: Target, text: string): Socket => {
  process.nextTick(() => socket.destroy(failure(REFUSED, text, target)));
  return socket;
};

const isValid = ({ host, port }: Target): boolean =>
  /^[^\s\0]{1,255}$/.test(host) && Number.isInteger(port) && port > 0 && port < 65_536;

/** Holds back "connect" until the guard has answered. Data before that is the guard's answer. */
const askFirst = (outer: Socket, target: Target): void => {
  const socket = outer as OpenSocket;
  const emit = socket.emit.bind(socket);
  let answer = '';
  const restore = (): void => {
    Reflect.deleteProperty(socket, 'emit');
    Reflect.deleteProperty(socket, 'push');
  };
  const fail = (error: Error): void => {
    restore();
    socket.destroy(error);
  };
  const ask = (): void => {
    socket._write(`CONNECT ${target.host} ${target.port}\n`, 'latin1', (error) => error && fail(error));
    socket._read(0);
    // The component's writes wait for "connect" while this is set.
    socket.connecting = true;
    socket.push = read;
  };
  const read = (chunk: Buffer | null): boolean => {
    if (chunk === null) {
      fail(failure('ECONNRESET', 'the egress guard closed the connection', target));
      return false;
    }
    answer += chunk.toString('latin1');
    const end = answer.indexOf('\n');
    if (end < 0 && answer.length <= MAX_ANSWER) return true;
    const [word = '', code = '', ...text] = answer.slice(0, Math.max(end, 0)).trim().split(' ');
    if (word !== 'OK') {
      fail(failure(code || REFUSED, Buffer.from(text.join(' '), 'latin1').toString('utf8'), target));
      return false;
    }
    restore();
    socket.connecting = false;
    socket.emit('connect');
    socket.emit('ready');
    const rest = answer.slice(end + 1);
    if (rest !== '') socket.push(Buffer.from(rest, 'latin1'));
    if (!socket.isPaused()) socket.read(0);
    return true;
  };
  socket.emit = (event: string | symbol, ...args: unknown[]): boolean => {
    if (event === 'connect') ask();
    else if (event === 'error' && (args[0] as NodeJS.ErrnoException).syscall === 'connect' && socket.connecting)
      return emit('error', failure(REFUSED, 'the egress guard cannot be reached', target));
    else if (event !== 'ready') return emit(event, ...args);
    return true;
  };
};

/** Routes all sockets through the guard's socket `egress`. With null, every connection is refused. */
export const tunnelSockets = (egress: string | null): void => {
  const tunnelled: Connect = function (this: Socket, ...args) {
    const given = spread(args);
    const options = optionsOf(given);
    const listener = given.find((arg) => typeof arg === 'function') as (() => void) | undefined;
    if (listener) this.once('connect', listener);
    if (typeof options.path === 'string') return refuse(this, { host: options.path, port: 0 }, 'only TCP can be used');
    const target = targetOf(options);
    if (!isValid(target)) return refuse(this, target, 'host or port is not valid');
    if (egress === null) return refuse(this, target, 'this process has no network');
    askFirst(this, target);
    return plainConnect.call(this, { path: egress });
  };
  net.Socket.prototype.connect = tunnelled;
  const secure = tls.connect as (...args: unknown[]) => TLSSocket;
  // A TLS socket takes the handle of its socket on creation. It gets a socket without a handle, which connects later.
  tls.connect = (...args: unknown[]): TLSSocket => {
    const options = optionsOf(args);
    for (const arg of args.slice(1)) if (typeof arg === 'object' && arg !== null) Object.assign(options, arg);
    if (options.socket !== undefined) return secure(...args);
    const socket = new net.Socket();
    const listener = args.find((arg) => typeof arg === 'function');
    const secured = secure({ ...options, ...targetOf(options), socket }, ...(listener ? [listener] : []));
    // Its handle is none of the system, so only the inner socket can let the process rest.
    secured.ref = () => (socket.ref(), secured);
    secured.unref = () => (socket.unref(), secured);
    if (typeof options.timeout === 'number') secured.setTimeout(options.timeout);
    socket.on('error', (error) => secured.destroy(error));
    socket.connect(typeof options.path === 'string' ? { path: options.path } : targetOf(options));
    return secured;
  };
  syncBuiltinESMExports();
};
