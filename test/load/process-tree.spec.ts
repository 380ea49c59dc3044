import { describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { treeUsage } from './process-tree.js';

describe('treeUsage', () => {
  it('counts a process with its children and grandchildren', async () => {
    const script = `
      const { spawn } = require('node:child_process');
      const until = Date.now() + 200; while (Date.now() < until);
      const child = spawn(process.execPath, ['-e', 'console.log("up"); process.stdin.resume()'], { stdio: ['pipe', 'inherit', 'inherit'] });
      process.stdin.on('end', () => child.stdin.end()).resume();`;
    const parent = spawn(process.execPath, ['-e', script]);
    await once(parent.stdout, 'data');
    const usage = treeUsage(parent.pid ?? 0);
    expect(usage.processes).toBe(2);
    expect(usage.cpuUs).toBeGreaterThan(100_000);
    expect(usage.mainRssMb).toBeGreaterThan(10);
    expect(usage.childrenRssMb).toBeGreaterThan(10);
    parent.stdin.end();
    await once(parent, 'exit');
  });

  it('names a process that is not there', () => {
    expect(() => treeUsage(2 ** 22 + 1)).toThrow('4194305');
  });
});
