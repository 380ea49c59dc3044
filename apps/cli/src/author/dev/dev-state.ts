import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { exactly, fieldText, isFields } from '../json.js';

/** Which source a file of the project has on a server. */
export interface Attached {
  /** Address of the server, or `own`. */
  readonly server: string;
  /** Path of the file below the folder of the project. */
  readonly file: string;
  readonly sourceId: string;
}

/** Remembers the sources of `sluice dev` in `.sluice/dev.json` of the project. */
export class DevState {
  private readonly path: string;

  constructor(folder: string) {
    this.path = path.join(folder, '.sluice', 'dev.json');
  }

  sourceOf(server: string, file: string): string | undefined {
    return this.read().find((each) => each.server === server && each.file === file)?.sourceId;
  }

  /** Replaces the source of a file, or forgets it. Others are as they were read just before. */
  keep(server: string, file: string, sourceId: string | undefined): void {
    const others = this.read().filter((each) => each.server !== server || each.file !== file);
    const sources = [...others, ...(sourceId === undefined ? [] : [{ server, file, sourceId }])];
    const text = JSON.stringify(
      { sources: sources.map((each) => ({ server: each.server, file: each.file, source_id: each.sourceId })) },
      null,
      2,
    );
    mkdirSync(path.dirname(this.path), { recursive: true });
    const next = `${this.path}.${process.pid}`;
    writeFileSync(next, `${text}\n`);
    renameSync(next, this.path);
  }

  /** A file that cannot be read counts as empty: the sources are still on their servers. */
  private read(): readonly Attached[] {
    try {
      const value = exactly(readFileSync(this.path, 'utf8'));
      const sources = isFields(value) && Array.isArray(value['sources']) ? value['sources'] : [];
      return sources.map((each: unknown) => ({
        server: fieldText(each, 'server'),
        file: fieldText(each, 'file'),
        sourceId: fieldText(each, 'source_id'),
      }));
    } catch {
      return [];
    }
  }
}
