import { type ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { OriginGuard } from './origin.guard.js';

const admits = (
  headers: Readonly<Record<string, string>>,
  { publicUrl = null as string | null, origins = [] as readonly string[] } = {},
): boolean | string => {
  const context = { switchToHttp: () => ({ getRequest: () => ({ headers }) }) } as unknown as ExecutionContext;
  try {
    return new OriginGuard({ publicUrl, origins }).canActivate(context);
  } catch (error) {
    return (error as { readonly code: string }).code;
  }
};
const REFUSED = 'tools.origin_not_allowed';

// docs/reference/workflows.md#mcp-caller
describe('origin of a request for tools', () => {
  it('is asked of pages only, because programs send none', () => {
    expect(admits({ host: 'sluice.example' })).toBe(true);
  });

  it('is that of the server, by its public URL alone', () => {
    const publicUrl = 'https://sluice.example/base';
    expect(admits({ origin: 'https://sluice.example', host: '10.0.0.1:3000' }, { publicUrl })).toBe(true);
    expect(admits({ origin: 'http://sluice.example', host: 'sluice.example' }, { publicUrl })).toBe(REFUSED);
    expect(admits({ origin: 'http://localhost:3000', host: 'localhost:3000' }, { publicUrl })).toBe(REFUSED);
  });

  it('is the loopback address that the page asks, on a server without a public URL', () => {
    for (const host of ['localhost:3000', '127.0.0.1:3000', '[::1]:3000'])
      expect(admits({ origin: `http://${host}`, host })).toBe(true);
    expect(admits({ origin: 'http://localhost:8080', host: 'localhost:3000' })).toBe(REFUSED);
    // A name of somebody else may lead to this machine.
    expect(admits({ origin: 'http://rebound.example:3000', host: 'rebound.example:3000' })).toBe(REFUSED);
    expect(admits({ origin: 'http://localhost:3000' })).toBe(REFUSED);
  });

  it('is one of the allowed ones, of which a star allows all', () => {
    const origins = ['https://tools.example'];
    expect(admits({ origin: 'https://tools.example' }, { origins })).toBe(true);
    expect(admits({ origin: 'https://tools.example.evil' }, { origins })).toBe(REFUSED);
    expect(admits({ origin: 'null' }, { origins })).toBe(REFUSED);
    expect(admits({ origin: 'null' }, { origins: ['*'] })).toBe(true);
  });
});
