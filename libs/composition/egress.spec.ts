import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from 'undici';
import { loadConfig } from '#libs/config/index.js';
import { openEgress, openOperatorEgress } from './egress.js';

let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer((_, response) => response.end('here'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const logger = { info: () => undefined, warn: () => undefined };

/** What becomes of a request, without anything allowed by SLUICE_EGRESS_ALLOW. */
const reached = async (open: typeof openEgress, address: string): Promise<unknown> => {
  const egress = open(loadConfig({}), logger);
  try {
    const { statusCode, body } = await request(address, { dispatcher: egress.dispatcher });
    await body.dump();
    return statusCode;
  } catch (error) {
    return (error as { readonly code?: unknown }).code;
  } finally {
    await egress.close();
  }
};

describe('the way out', () => {
  it('to hosts that users name leads to no private address', async () => {
    expect(await reached(openEgress, url)).toBe('EGRESS_REFUSED');
  });

  it('to hosts that the operator names leads to private addresses, and not to those of cloud metadata', async () => {
    expect(await reached(openOperatorEgress, url)).toBe(200);
    expect(await reached(openOperatorEgress, 'http://169.254.169.254/')).toBe('EGRESS_REFUSED');
  });
});
