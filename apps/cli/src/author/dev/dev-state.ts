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
  /** What the command saved for it last. */
  readonly componentId: string;
}

/** Remembers the sources of `sluice dev` in `.sluice/dev.json` of the project. */
export class DevState {
  private readonly path: string;

  constructor(folder: string) {
    this.path = path.join(folder, '.sluice', 'dev.json');
  }

  find(server: string, file: string): Attached | undefined {
    return this.read().find((each) => each.server === server && each.file === file);
  }

  /** Replaces what a file has on a server. Others are as they were read just before. */
  keep(attached: Attached): void {
    this.write([...this.others(attached), attached]);
  }

  forget(attached: Pick<Attached, 'server' | 'file'>): void {
    this.write(this.others(attached));
  }

  private others({ server, file }: Pick<Attached, 'server' | 'file'>): readonly Attached[] {
    return this.read().filter((each) => each.server !== server || each.file !== file);
  }

  private write(all: readonly Attached[]): void {
    const sources = all.map(({ server, file, sourceId, componentId }) => ({
      server,
      file,
      source_id: sourceId,
      component_id: componentId,
    }));
    const text = JSON.stringify({ sources }, null, 2);
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
        componentId: fieldText(each, 'component_id'),
      }));
    } catch {
      return [];
    }
  }
}
