import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from '@jest/globals';
import { type EmbeddedEngines, type EmbeddedOptions } from '../index.js';
import { openEngines } from './open-engines.js';

export interface EnginesForEach {
  /** The data directory of the current test. */
  readonly dataDir: string;
  /** Opens the engines on it. They are closed after the test. */
  open(options?: Partial<EmbeddedOptions>): Promise<EmbeddedEngines>;
}

/** A data directory for each test of the file. */
export const enginesForEach = (name: string): EnginesForEach => {
  let dataDir = '';
  const opened: EmbeddedEngines[] = [];
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), `sluice-${name}-`));
  });
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.close();
    rmSync(dataDir, { recursive: true });
  });
  return {
    get dataDir() {
      return dataDir;
    },
    async open(options = {}) {
      const engines = await openEngines(dataDir, options);
      opened.push(engines);
      return engines;
    },
  };
};
