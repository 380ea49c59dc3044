import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { brokerSettings } from './broker-settings.js';

describe('settings of brokers', () => {
  it.each([
    ['::1', '[::1]'],
    ['127.0.0.1', '127.0.0.1'],
  ])('are asked for at %s', async (address, written) => {
    let connections = 0;
    const broker = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => broker.listen(0, address, resolve));
    const { port } = broker.address() as AddressInfo;
    try {
      await expect(brokerSettings([`${written}:${port}`], 'spec').read(['a'])).rejects.toThrow();
      expect(connections).toBeGreaterThan(0);
    } finally {
      await new Promise((resolve) => broker.close(resolve));
    }
  });
});
