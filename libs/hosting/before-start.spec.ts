import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { nodeProblem, OLDEST_NODES, readEnvFile } from './before-start.js';

describe('the version of Node', () => {
  it('is the one that package.json asks for', () => {
    const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } };
    const [first, second, last] = OLDEST_NODES.map(([major, minor]) => `${major}.${minor}.0`);
    expect(engines.node).toBe(`^${first} || ^${second} || >=${last}`);
  });

  it.each(['16.20.2', '18.20.8', '20.18.3', '20.9.0', '21.7.0', '22.12.0', '23.11.0'])(
    'is not supported: %s',
    (version) => {
      expect(nodeProblem(version, '/opt/node')).toBe(
        `it needs Node.js 20.19, 22.13, 24 or later, and /opt/node is Node.js ${version}. Install one of these, or put it first in PATH`,
      );
    },
  );

  it.each(['20.19.0', '20.20.2', '22.13.0', '24.0.0', '24.1.0', '25.2.0'])('is supported: %s', (version) => {
    expect(nodeProblem(version, '/opt/node')).toBeUndefined();
  });
});

describe('the entry of an app', () => {
  const importsOf = (file: string): string[] =>
    [...readFileSync(file, 'utf8').matchAll(/^import .* from '(.*)';$/gm)].map(([, from = '']) => from);

  // A static import is loaded before the check, and may not even parse on an older Node.
  it.each(readdirSync('apps'))('loads nothing but the check before it: %s', (app) => {
    const file = `apps/${app}/src/main.ts`;
    expect(importsOf(file)).toEqual(['#libs/hosting/before-start.js']);
    expect(readFileSync(file, 'utf8')).toMatch(/beforeStart\('sluice.*\n.*\nawait import\('\.\/app\.js'\)/);
    for (const from of importsOf('libs/hosting/before-start.ts')) expect(from).toMatch(/^node:/);
  });
});

describe('.env', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'sluice-env-'))));
  afterEach(() => rmSync(folder, { recursive: true }));
  const read = (text: string, env: Record<string, string | undefined> = {}) => {
    writeFileSync(join(folder, '.env'), text);
    return { problem: readEnvFile(folder, env), env };
  };

  it('gives settings, with quotes and comments as in Node', () => {
    const text = '\n# a comment\nSLUICE_PORT=4000 # its port\nSLUICE_HOST="::1"\nexport SLUICE_LOG_LEVEL=warn\r\n';
    expect(read(text)).toEqual({
      problem: undefined,
      env: { SLUICE_PORT: '4000', SLUICE_HOST: '::1', SLUICE_LOG_LEVEL: 'warn' },
    });
  });

  it('never changes what the environment has, and gives nothing but settings', () => {
    const env = { SLUICE_PORT: '1', SLUICE_HOST: '' };
    expect(
      read('SLUICE_PORT=2\nSLUICE_HOST=x\nSLUICE_CONFIG=./keys.json\nNODE_OPTIONS=--inspect\nPATH=/evil', env).env,
    ).toEqual({
      SLUICE_PORT: '1',
      SLUICE_HOST: '',
    });
  });

  it.each([
    ['SLUICE_PORT=1\n\nSLUICE_API_KEY: hush-hush', 3, /it is not NAME=value/],
    ['SLUICE_PORT', 1, /it is not NAME=value/],
    ['1SLUICE=2', 1, /it is not NAME=value/],
    ['# fine\nSLUICE_API_KEY="hush-hush\nSLUICE_PORT=1', 2, /the quotation mark " has no end/],
    ["SLUICE_A='x\ny'\nhush-hush", 3, /it is not NAME=value/],
  ])('with a wrong line is refused by file and line, without the value: %j', (text, line, reason) => {
    const { problem, env } = read(text);
    expect(problem).toContain(`${join(folder, '.env')}, line ${line}: `);
    expect(problem).toMatch(reason);
    expect(problem).not.toContain('hush');
    expect(env).toEqual({});
  });

  it('is small', () => {
    const { problem, env } = read(`SLUICE_PORT=1\n#${'x'.repeat(1024 * 1024)}`);
    expect(problem).toMatch(/\.env cannot be read: it has 1048591 bytes, and 1048576 are read at most\. /);
    expect(env).toEqual({});
  });

  it('is never a pipe, which may have no end', () => {
    execFileSync('mkfifo', [join(folder, '.env')]);
    expect(readEnvFile(folder, {})).toBeUndefined();
  });

  it('may be absent, or a folder of another program', () => {
    expect(readEnvFile(folder, {})).toBeUndefined();
    mkdirSync(join(folder, '.env'));
    expect(readEnvFile(folder, {})).toBeUndefined();
  });
});
