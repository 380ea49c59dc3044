import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '#libs/config/index.js';
import { openBucket } from './buckets.js';

const entry = (bucket: string, region: string, workspaces: unknown) => ({
  bucket,
  region,
  workspaces,
  endpoint: 'https://s3.example.com',
  access_key_id: 'a',
  secret_access_key: 's',
});

describe('the bucket that a workspace may write to', () => {
  const config = loadConfig({
    SLUICE_S3: JSON.stringify([
      entry('a', 'r1', ['o_1', 'o_2']),
      entry('a', 'r2', ['o_3']),
      entry('b', 'r3', '*'),
      entry('c', 'r4', []),
    ]),
  });

  it.each([
    ['a', 'o_2', 'r1'],
    ['a', 'o_3', 'r2'],
    ['a', 'o_4', undefined],
    ['b', 'o_4', 'r3'],
    ['c', 'o_1', undefined],
    ['A', 'o_1', undefined],
  ])('is, of the name %s for %s, that of %s', (name, workspaceId, region) => {
    expect(openBucket(config, name, workspaceId)?.region).toBe(region);
  });
});
