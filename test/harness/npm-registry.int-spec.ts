import { describe, expect, it } from '@jest/globals';
import { NpmRegistry } from './npm-registry.js';

describe('the registry of tests', () => {
  it('serves what was published, with its time, and closes private scopes to callers without a token', async () => {
    const registry = await NpmRegistry.start({ privateScopes: ['@acme'] });
    try {
      await registry.publish('plain', '1.0.0', undefined, { time: new Date('2024-05-06T07:08:09Z') });
      await registry.publish('@acme/secret', '1.0.0');
      const plain = await fetch(`${registry.url}/plain`);
      expect(await plain.json()).toMatchObject({ time: { '1.0.0': '2024-05-06T07:08:09.000Z' } });
      expect((await fetch(`${registry.url}/plain/-/plain-1.0.0.tgz`)).status).toBe(200);
      const headers = { authorization: `Bearer ${registry.token}` };
      expect((await fetch(`${registry.url}/@acme%2fsecret`)).status).toBe(401);
      expect((await fetch(`${registry.url}/@acme%2fsecret`, { headers })).status).toBe(200);
      expect(registry.requests()).toContain('/@acme/secret');
    } finally {
      await registry.close();
    }
  });
});
