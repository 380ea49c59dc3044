import { Socket } from 'node:net';

/**
 * Loaded into a role before its program (`node --import`). Connections to the ports of the engines go to the ports of this
 * process's relays (engine-relays.ts), whichever client opens them and whatever address an engine tells its clients.
 */

/** `port=port`, separated by commas. */
const ports = new Map(
  (process.env['TEST_ENGINE_RELAYS'] ?? '')
    .split(',')
    .filter((pair) => pair !== '')
    .map((pair): [number, number] => {
      const [from, to] = pair.split('=').map(Number);
      return [from ?? 0, to ?? 0];
    }),
);

const relayed = (given: unknown): unknown => {
  if (typeof given === 'number' || typeof given === 'string') return ports.get(Number(given)) ?? given;
  if (typeof given !== 'object' || given === null) return given;
  // What `net.connect` passes on: the options, first of a marked array.
  if (Array.isArray(given)) {
    given[0] = relayed(given[0]);
    return given;
  }
  const to = 'port' in given ? ports.get(Number(given.port)) : undefined;
  return to === undefined ? given : { ...given, port: to };
};

// eslint-disable-next-line @typescript-eslint/unbound-method -- called with the socket below
const connect = Socket.prototype.connect as (this: Socket, ...args: unknown[]) => Socket;

Socket.prototype.connect = function (this: Socket, ...[first, ...rest]: unknown[]): Socket {
  return connect.call(this, relayed(first), ...rest);
};
