import { describe, expect, it } from '@jest/globals';
import { WrongSettings, describeConfig, loadConfig } from './index.js';

const ENTRY = {
  bucket: 'events.of-2026_x',
  endpoint: 'http://10.0.0.5:9000/',
  region: 'us-east-1',
  access_key_id: 'AKIA0',
  secret_access_key: 'S3cret/+=,Word',
  workspaces: ['o_1', 'o_2'],
};

const problemOf = (given: unknown): string => {
  try {
    loadConfig({ SLUICE_S3: typeof given === 'string' ? given : JSON.stringify(given) });
    return 'none';
  } catch (error) {
    if (error instanceof WrongSettings) return error.problems.join('\n');
    throw error;
  }
};

const { workspaces: _, ...WITHOUT_WORKSPACES } = ENTRY;

// docs/reference/config.md
describe('SLUICE_S3', () => {
  it('opens buckets to workspaces, and is not shown', () => {
    const config = loadConfig({ SLUICE_S3: JSON.stringify([ENTRY, { ...ENTRY, bucket: 'b', workspaces: '*' }]) });
    const bucket = {
      bucket: 'events.of-2026_x',
      endpoint: 'http://10.0.0.5:9000',
      region: 'us-east-1',
      accessKeyId: 'AKIA0',
      secretAccessKey: 'S3cret/+=,Word',
      workspaces: ['o_1', 'o_2'],
    };
    expect(config.s3).toEqual([bucket, { ...bucket, bucket: 'b', workspaces: null }]);
    expect(describeConfig(config).find(({ name }) => name === 'SLUICE_S3')).toMatchObject({ value: '(given)' });
  });

  it('opens one name of two storages to different workspaces', () => {
    expect(problemOf([ENTRY, { ...ENTRY, workspaces: ['o_3'] }])).toBe('none');
  });

  it.each([
    ['S3cretWord', 'no JSON'],
    [ENTRY, 'no JSON list'],
    [['S3cretWord'], 'entry 1 is no object with the keys bucket, endpoint, region, access_key_id'],
    [[ENTRY, { ...ENTRY, secret: 'S3cretWord' }], 'entry 2 has an unknown key; its keys are bucket, endpoint'],
    [[{ ...ENTRY, bucket: '../a' }], 'bucket of entry 1 is no name of a bucket'],
    [[{ ...ENTRY, bucket: undefined }], 'bucket of entry 1 is missing'],
    [[{ ...ENTRY, endpoint: 'https://ada:S3cretWord@a.example' }], 'endpoint of entry 1 is no http or https URL'],
    [[{ ...ENTRY, endpoint: 's3.example.com' }], 'endpoint of entry 1 is no http or https URL'],
    [[{ ...ENTRY, region: 'us east' }], 'region of entry 1 is no region'],
    [[{ ...ENTRY, access_key_id: 'S3cret/Word' }], 'access_key_id of entry 1 is no text of visible ASCII characters'],
    [[{ ...ENTRY, secret_access_key: 'S3cret Word' }], 'secret_access_key of entry 1 is no text of visible ASCII'],
    [[WITHOUT_WORKSPACES], 'workspaces of entry 1 is neither a list of workspace ids nor "*" for all'],
    [[{ ...ENTRY, workspaces: 'o_1' }], 'workspaces of entry 1 is neither a list'],
    [[ENTRY, { ...ENTRY, workspaces: ['o_2'] }], 'entries 1 and 2 open the bucket events.of-2026_x to one workspace'],
    [[ENTRY, { ...ENTRY, workspaces: '*' }], 'entries 1 and 2 open the bucket'],
  ])('refuses %j, naming no secret', (given, reason) => {
    const problem = problemOf(given);
    expect(problem).toContain(reason);
    expect(problem).toMatch(/^SLUICE_S3 is a value of \d+ characters \(.*\); allowed: JSON like/);
    expect(problem).not.toMatch(/S3cret.*Word/);
  });
});
