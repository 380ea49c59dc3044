import { describe, expect, it } from '@jest/globals';
import { TokenRefused } from '#libs/accounts/index.js';
import { createEgress } from '#libs/egress/guarded-dispatcher.js';
import { tokenServers } from './account-auths.js';
import { queriesOnly } from './queries-only.js';

const form = { headers: {}, form: new URLSearchParams() };

describe('the way to token servers', () => {
  it('is made in a process that serves reads and sends nothing', () => {
    expect(() => tokenServers(queriesOnly.egress)).not.toThrow();
  });

  it('tells a refused address as a failure that may pass', async () => {
    const egress = createEgress({ allow: [] });
    const refused = tokenServers(egress)('http://169.254.169.254/token', form);
    await expect(refused).rejects.toBeInstanceOf(TokenRefused);
    await expect(refused).rejects.toMatchObject({
      permanent: false,
      message: expect.stringContaining('169.254.169.254'),
    });
    await egress.close();
  });
});
