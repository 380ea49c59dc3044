import { describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { programFiles } from './host-programs.js';

describe('the libraries of a program', () => {
  it('include the parts of glibc that machine code of packages may load', async () => {
    const { libraries } = await programFiles(process.execPath);
    const libc = libraries.find((library) => path.basename(library) === 'libc.so.6');
    // Another C library, or a program without one.
    if (libc === undefined) return;
    const resolver = path.join(path.dirname(libc), 'libresolv.so.2');
    expect(libraries.includes(resolver)).toBe(existsSync(resolver));
    expect(new Set(libraries).size).toBe(libraries.length);
  });
});
