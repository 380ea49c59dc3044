import { describe, expect, it } from '@jest/globals';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { folderPrefix, removeStaleFolders } from './stale-folders.js';

describe('folders of jails', () => {
  it('are removed when their server has ended, and only then', async () => {
    const parent = await mkdtemp(path.join(tmpdir(), 'sluice-test-'));
    const own = `${folderPrefix('jail')}abc123`;
    const [, namespace = '', pid = '', startedAt = ''] = /^sluice-jail-(\d+)-(\d+)-(\d+)-/.exec(own) ?? [];
    const reused = `sluice-jail-${namespace}-${pid}-${Number(startedAt) + 1}-abc123`;
    const gone = `sluice-jail-${namespace}-4999999-5-abc123`;
    const egress = `sluice-egress-${namespace}-4999999-5-abc123`;
    const elsewhere = `sluice-jail-1-4999999-5-abc123`;
    for (const name of [own, reused, gone, egress, elsewhere, 'sluice-jail-old', 'other'])
      await mkdir(path.join(parent, name, 'inside'), { recursive: true });
    await removeStaleFolders(parent);
    expect((await readdir(parent)).sort()).toEqual([elsewhere, own, 'other', 'sluice-jail-old'].sort());
    await rm(parent, { recursive: true });
  });
});
