import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { AddressPolicy } from './address-policy.js';
import { EgressSockets } from './egress-sockets.js';
import { guardedLookup } from './guarded-lookup.js';

describe('the egress sockets of sources', () => {
  let sockets: EgressSockets;

  beforeEach(async () => {
    const policy = new AddressPolicy([]);
    sockets = await EgressSockets.create('sluice-sockets-', { policy, lookup: guardedLookup(policy) });
  });
  afterEach(() => sockets.close());

  const isServed = (file: string): Promise<boolean> =>
    new Promise((resolve) => {
      const client = connect(file);
      client.once('connect', () => {
        client.destroy();
        resolve(true);
      });
      client.once('error', () => resolve(false));
    });
  const gone = async (file: string): Promise<void> => {
    while (existsSync(file)) await new Promise((resolve) => setImmediate(resolve));
  };

  it('are shared by the processes of a source, and closed with the last of them', async () => {
    const file = await sockets.pathFor('o_1', 'dc_1');
    expect(await sockets.pathFor('o_1', 'dc_1')).toBe(file);
    expect(await sockets.pathFor('o_1', 'dc_2')).not.toBe(file);
    sockets.release('dc_1');
    expect(await isServed(file)).toBe(true);
    sockets.release('dc_1');
    expect(sockets.size).toBe(1);
    await gone(file);
    expect(await isServed(file)).toBe(false);
    sockets.release('dc_1');
    expect(sockets.size).toBe(1);
  });

  it('are opened anew while the former one closes', async () => {
    const former = await sockets.pathFor('o_1', 'dc_1');
    sockets.release('dc_1');
    const next = await sockets.pathFor('o_1', 'dc_1');
    await gone(former);
    expect(await isServed(next)).toBe(true);
  });

  it('leave no file when all are closed', async () => {
    const file = await sockets.pathFor('o_1', 'dc_1');
    sockets.release('dc_1');
    await sockets.pathFor('o_1', 'dc_2');
    await sockets.close();
    expect(existsSync(path.dirname(file))).toBe(false);
  });
});
