import { describe, expect, it } from '@jest/globals';
import { chooseServer, type Given } from './server.js';

type Place = 'environment' | 'file';
const given =
  (variables: Readonly<Record<string, readonly [value: string, from: Place]>>): Given =>
  (name) => {
    const [value, from] = variables[name] ?? [];
    return value === undefined || from === undefined ? undefined : { value, from };
  };

const NONE = { current: null, profiles: {}, folders: {} };
const serverOf = (from: Given, url?: string) => chooseServer(from, { url }, NONE);

describe('the server of a command', () => {
  it('is the named one, or that of the environment, or the one of this machine', () => {
    const key = ['k', 'environment'] as const;
    const both = given({ SLUICE_API_KEY: key, SLUICE_URL: ['https://sluice.example/', 'environment'] });
    expect(serverOf(both, 'http://other.example:8080/base/')).toMatchObject({
      url: 'http://other.example:8080/base',
      apiKey: 'k',
    });
    expect(serverOf(both).url).toBe('https://sluice.example');
    expect(serverOf(given({ SLUICE_API_KEY: key })).url).toBe('http://127.0.0.1:3000');
  });

  it('gets no key of the environment because a folder says so', () => {
    const mixed = given({ SLUICE_API_KEY: ['k', 'environment'], SLUICE_URL: ['http://evil.example', 'file'] });
    expect(serverOf(mixed).url).toBe('http://127.0.0.1:3000');
  });

  it('is elsewhere by ./.env only when it is named', () => {
    const file = given({ SLUICE_API_KEY: ['k', 'file'], SLUICE_URL: ['https://sluice.example', 'file'] });
    expect(serverOf(file).unconfirmed).toBe('https://sluice.example');
    expect(serverOf(file, 'https://sluice.example')).toMatchObject({ apiKey: 'k', unconfirmed: null });
    const here = given({ SLUICE_API_KEY: ['k', 'file'], SLUICE_URL: ['http://127.0.0.1:4000', 'file'] });
    expect(serverOf(here).url).toBe('http://127.0.0.1:4000');
  });

  it.each(['nothing', 'ftp://x.example', 'http://user:secret@x.example', 'http://x.example?a=1'])(
    'has an address of the web, and %s is none',
    (address) => expect(() => serverOf(given({}), address)).toThrow('the address of the server must be like'),
  );

  it('needs a key', () =>
    expect(() => serverOf(given({}))).toThrow(
      'no API key for http://127.0.0.1:3000. Run "sluice login", or set SLUICE_API_KEY.',
    ));
});

describe('the profile of a command', () => {
  const mine = { url: 'https://mine.example', apiKey: 'mine', workspaceId: 'o_1' };
  const yours = { url: 'https://yours.example', apiKey: 'yours', workspaceId: null };
  const profiles = { current: 'mine', profiles: { mine, yours }, folders: {} };
  const inEnvironment = {
    SLUICE_API_KEY: ['k', 'environment'],
    SLUICE_URL: ['https://e.example', 'environment'],
  } as const;

  it('is the named one, that of the environment, or the current one, and a key comes before the last two', () => {
    const chosen = (variables: Parameters<typeof given>[0], profile?: string) =>
      chooseServer(given(variables), profile === undefined ? {} : { profile }, profiles);
    expect(chosen({})).toEqual({ ...mine, profile: 'mine', unconfirmed: null });
    expect(chosen({ SLUICE_PROFILE: ['yours', 'environment'] }).apiKey).toBe('yours');
    expect(chosen(inEnvironment)).toMatchObject({ apiKey: 'k', url: 'https://e.example', profile: null });
    expect(chosen(inEnvironment, 'yours')).toMatchObject({ apiKey: 'yours', url: 'https://yours.example' });
    expect(() => chosen(inEnvironment, 'theirs')).toThrow('no profile is called "theirs" (there are mine, yours)');
    expect(() => chosen({}, 'constructor')).toThrow('no profile is called "constructor"');
  });

  it('keeps its key for its own server', () => {
    const at = (url: string) => chooseServer(given({}), { url }, profiles);
    expect(at('https://mine.example/base').url).toBe('https://mine.example/base');
    for (const url of ['https://yours.example', 'http://mine.example', 'https://mine.example:8443'])
      expect(() => at(url)).toThrow(
        `the key of profile mine is for https://mine.example, not for ${url}: log in there first`,
      );
  });

  it('does not hide that a server of ./.env is confirmed for its folder only', () => {
    const file = given({ SLUICE_API_KEY: ['k', 'file'], SLUICE_URL: ['https://sluice.example', 'file'] });
    const known = { ...profiles, folders: { '/a': 'https://sluice.example' } };
    expect(chooseServer(file, {}, known, '/a').unconfirmed).toBeNull();
    expect(chooseServer(file, {}, known, '/b').unconfirmed).toBe('https://sluice.example');
    expect(
      chooseServer(file, {}, { ...known, folders: { '/a': 'https://other.example' } }, '/a').unconfirmed,
    ).not.toBeNull();
  });

  it('may be missing, where it was only the current one', () =>
    expect(() => chooseServer(given({}), {}, { ...profiles, profiles: {} })).toThrow('no API key for'));
});
