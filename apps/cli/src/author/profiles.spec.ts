import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { profilesFile, readProfiles, writeProfiles } from './profiles.js';

let dir = '';
let file = '';
beforeEach(() => {
  dir = tempDir('profiles');
  file = join(dir, 'sluice', 'config.json');
});
afterEach(() => removeDir(dir));

const profile = { url: 'http://127.0.0.1:3000', apiKey: 'sk_1', workspaceId: 'o_1' };
const one = { current: 'default', profiles: { default: profile }, folders: {} };
const modeOf = (path: string): number => statSync(path).mode & 0o777;
const read = (): { readonly profiles: unknown; readonly warnings: readonly string[] } => {
  const warnings: string[] = [];
  return { profiles: readProfiles(file, (text) => warnings.push(text)), warnings };
};

describe('the file of profiles', () => {
  it('is where the system keeps settings, unless it is named', () => {
    expect(profilesFile({ SLUICE_CONFIG: '/x/my.json', XDG_CONFIG_HOME: '/c' })).toBe('/x/my.json');
    expect(profilesFile({ XDG_CONFIG_HOME: '/c' }, 'linux', '/h')).toBe('/c/sluice/config.json');
    expect(profilesFile({ XDG_CONFIG_HOME: 'relative' }, 'linux', '/h')).toBe('/h/.config/sluice/config.json');
    expect(profilesFile({ SLUICE_CONFIG: ' ', APPDATA: '/a' }, 'win32', '/h')).toBe('/a/sluice/config.json');
    expect(profilesFile({}, 'win32', '/h')).toBe('/h/AppData/Roaming/sluice/config.json');
  });

  it('is read as it was written, and closed to other users', () => {
    expect(read()).toEqual({ profiles: { current: null, profiles: {}, folders: {} }, warnings: [] });
    writeProfiles(file, one);
    expect([modeOf(file), modeOf(dirname(file))]).toEqual([0o600, 0o700]);
    expect(read()).toEqual({ profiles: one, warnings: [] });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      current: 'default',
      profiles: { default: { url: 'http://127.0.0.1:3000', api_key: 'sk_1', workspace_id: 'o_1' } },
    });
    writeProfiles(file, { ...one, folders: { '/a': 'https://sluice.example' } });
    expect(read().profiles).toEqual({ ...one, folders: { '/a': 'https://sluice.example' } });
    expect(readdirSync(dirname(file))).toEqual(['config.json']);
  });

  it('is closed when others could read it, with one warning', () => {
    writeProfiles(file, one);
    chmodSync(file, 0o644);
    const { profiles, warnings } = read();
    expect(profiles).toEqual(one);
    expect(warnings).toEqual([
      expect.stringContaining(`${file} holds API keys and other users could use it (mode 0644)`),
    ]);
    expect(modeOf(file)).toBe(0o600);
    expect(read().warnings).toEqual([]);
  });

  it('stays a link to where it is kept', () => {
    mkdirSync(dirname(file));
    writeFileSync(join(dir, 'kept.json'), '{}', { mode: 0o600 });
    symlinkSync(join(dir, 'kept.json'), file);
    writeProfiles(file, one);
    expect(JSON.parse(readFileSync(join(dir, 'kept.json'), 'utf8'))).toMatchObject({ current: 'default' });
    expect(read().profiles).toEqual(one);
  });

  it.each([
    '',
    '[]',
    '{"profiles": 5}',
    '{"profiles": {"a": {"url": "x"}}}',
    '{"profiles": {"a": {"url": "http://x"}}}',
  ])('is refused with words when it holds %j', (text) => {
    mkdirSync(dirname(file));
    writeFileSync(file, text, { mode: 0o600 });
    expect(() => read()).toThrow(`${file} cannot be used: `);
  });
});
