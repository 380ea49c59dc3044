import { START } from '#libs/kernel/events.js';
import { type CollectionSchema, type Doc, type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { EMITS, INVOCATIONS, DELIVERIES } from '#libs/stream-log/topics.js';
import { type MovedEngines } from './export-installation.js';

/** Progress of an import. Stages before `records` are idempotent; `records` starts over as a whole. */
export type ImportStage = 'state' | 'records' | 'read-models' | 'done';

interface MarkDoc extends Doc {
  readonly archive: string;
  readonly stage: ImportStage;
}

/** Collection of one document, which is kept so that no import starts twice. */
export const IMPORTS: CollectionSchema = { name: 'installation.import.v1', indexed: [], sort: 'id' };
export const IMPORT = 'import';

/** Mark in the target that names the archive being imported. */
export class ImportMark {
  private constructor(
    private readonly readModels: ReadModelStore,
    private readonly archive: string,
    public stage: ImportStage,
  ) {}

  /** Rejects without writing when the target contains anything but a part of this same import. */
  static async claim(engines: MovedEngines, archive: string): Promise<ImportMark> {
    const { readModels } = engines;
    await readModels.register(IMPORTS);
    const found = await readModels.get<MarkDoc>(IMPORTS, IMPORT);
    if (!found) {
      const there = await whatIsIn(engines);
      if (there.length > 0) throw new Error(`the target is not empty, it holds ${there.join(', ')}: ${ELSEWHERE}`);
      const mark = new ImportMark(readModels, archive, 'state');
      await mark.reach('state');
      return mark;
    }
    if (found.archive !== archive) {
      const state = found.stage === 'done' ? 'finished' : 'interrupted';
      throw new Error(`the target holds an import of another archive (${found.archive}, ${state}): ${ELSEWHERE}`);
    }
    if (found.stage === 'done') {
      throw new Error('the target holds all of this archive already: the import was finished, start the servers');
    }
    return new ImportMark(readModels, archive, found.stage);
  }

  async reach(stage: ImportStage): Promise<void> {
    const { active, checkpoint } = await this.readModels.register(IMPORTS);
    const doc: MarkDoc = { id: IMPORT, archive: this.archive, stage };
    await this.readModels.apply({
      schema: IMPORTS,
      generation: active,
      expected: checkpoint,
      next: String(Number(checkpoint ?? '0') + 1).padStart(8, '0'),
      writes: [{ op: 'put', doc }],
    });
    this.stage = stage;
  }
}

const ELSEWHERE =
  'import into an empty one, on which no server was ever started (another SLUICE_DATA_DIR; or other values of ' +
  'SLUICE_PREFIX and the database of SLUICE_MONGO_URL)';

const whatIsIn = async ({
  events,
  journal,
  runHistory,
  vault,
  due,
  delayed,
  ticks,
  log,
}: MovedEngines): Promise<string[]> => {
  const found: string[] = [];
  const [first] = await events.readAll(START, 1);
  if (first) found.push(`events (the first is ${first.type} of ${new Date(first.recordedAt).toISOString()})`);
  if (await isAny(journal.executables())) found.push('states of sources and workflows');
  if (await isAny(runHistory.ids())) found.push('runs of workflows');
  if (await isAny(vault.entries())) found.push('secrets');
  if (await isAny(due.all())) found.push('deliveries that wait');
  if (await isAny(delayed.all())) found.push('events that wait');
  if ((await ticks.load()).size > 0) found.push('timers');
  for (const prefix of [EMITS, INVOCATIONS, DELIVERIES]) {
    const topics = await log.topics(prefix);
    if (topics.length > 0) found.push(`${topics.length} topics of ${prefix}*`);
  }
  return found;
};

const isAny = async (entries: AsyncIterable<unknown>): Promise<boolean> => {
  for await (const entry of entries) return entry !== undefined;
  return false;
};
