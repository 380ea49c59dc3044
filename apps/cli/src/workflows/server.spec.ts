import { describe, expect, it } from '@jest/globals';
import { type Given, serverOf } from './server.js';

type Place = 'environment' | 'file';
const given =
  (variables: Readonly<Record<string, readonly [value: string, from: Place]>>): Given =>
  (name) => {
    const [value, from] = variables[name] ?? [];
    return value === undefined || from === undefined ? undefined : { value, from };
  };

describe('the server of a command', () => {
  it('is the named one, or that of the environment, or the one of this machine', () => {
    const key = ['k', 'environment'] as const;
    const both = given({ SLUICE_API_KEY: key, SLUICE_URL: ['https://sluice.example/', 'environment'] });
    expect(serverOf(both, 'http://other.example:8080/base/')).toEqual({
      url: 'http://other.example:8080/base',
      apiKey: 'k',
    });
    expect(serverOf(both, undefined).url).toBe('https://sluice.example');
    expect(serverOf(given({ SLUICE_API_KEY: key }), undefined).url).toBe('http://127.0.0.1:3000');
  });

  it('gets no key of the environment because a folder says so', () => {
    const mixed = given({ SLUICE_API_KEY: ['k', 'environment'], SLUICE_URL: ['http://evil.example', 'file'] });
    expect(serverOf(mixed, undefined).url).toBe('http://127.0.0.1:3000');
  });

  it('is elsewhere by ./.env only when it is named', () => {
    const file = given({ SLUICE_API_KEY: ['k', 'file'], SLUICE_URL: ['https://sluice.example', 'file'] });
    expect(() => serverOf(file, undefined)).toThrow('./.env names the server https://sluice.example: add --url');
    expect(serverOf(file, 'https://sluice.example').apiKey).toBe('k');
    const here = given({ SLUICE_API_KEY: ['k', 'file'], SLUICE_URL: ['http://127.0.0.1:4000', 'file'] });
    expect(serverOf(here, undefined).url).toBe('http://127.0.0.1:4000');
  });

  it.each(['nothing', 'ftp://x.example', 'http://user:secret@x.example', 'http://x.example?a=1'])(
    'has an address of the web, and %s is none',
    (address) => expect(() => serverOf(given({}), address)).toThrow('the address of the server must be like'),
  );

  it('needs a key', () =>
    expect(() => serverOf(given({}), undefined)).toThrow('no API key for http://127.0.0.1:3000. Set SLUICE_API_KEY.'));
});
