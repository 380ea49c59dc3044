/**
 * `$.service.db` of the steps of one workflow. Each is a state of its own beside the runs, under the id of its step, with a
 * part for each key. A commit of a run stores the changes with the outcome, and the commit of the db follows. The head of
 * the run names that commit, so the next owner makes the ones that a crash left out (docs/adr/0071).
 */
import { dictionary } from '#libs/kernel/dictionary.js';
import { DB_CHANGES, type DbMark, headOf } from '#libs/workflow-runs/stored-run.js';
import { type DbChanges, DbDraft } from '../outcome/db-draft.js';
import { type RunCommit, type RunJournal } from '../run-journal.js';

/** Ids of steps precede this, and those of runs follow it. */
export const RUNS_FOLLOW = 'run_';

export const isStepDb = (run: string): boolean => run < RUNS_FOLLOW;

/** Keys may be empty, and names of parts may not. */
const KEY = 'db/';
/** Commits of a db whose runs the journal remembers for certain: one has at most 256 runs, and it remembers 1,000. */
const REMEMBERED = 3;

/** Returns the content, JSON text by key. */
export const readStepDb = async (
  journal: Pick<RunJournal, 'load'>,
  executable: string,
  step: string,
): Promise<Readonly<Record<string, string>>> => contentOf((await journal.load({ executable, run: step })).parts);

const contentOf = (parts: Readonly<Record<string, string>>): Readonly<Record<string, string>> => {
  const db = dictionary<string>();
  for (const [name, text] of Object.entries(parts)) db[name.slice(KEY.length)] = text;
  return db;
};

/** The db of one step within one commit. The last of several runs that change a key wins. */
export class StepDbDraft {
  private readonly changes = dictionary<string | null>();
  private readonly runs = new Set<string>();
  private readonly draft: DbDraft;

  constructor(
    private readonly executable: string,
    private readonly step: string,
    private readonly version: number,
    content: Readonly<Record<string, string>>,
  ) {
    this.draft = new DbDraft(content);
  }

  /** Returns the limit that the changes would exceed. */
  limitOf(changes: DbChanges): string | undefined {
    return this.draft.limitOf(changes);
  }

  /** Applies the changes of a run, unless they exceed a limit. Returns what the head of the run says of this commit. */
  apply(run: string, changes: DbChanges, marked?: number): DbMark {
    const mark = { step: this.step, version: marked ?? this.version + 1 };
    if (this.draft.apply(changes) === undefined) Object.assign(this.changes, changes);
    this.runs.add(idOf(run, mark.version));
    return mark;
  }

  commit(): RunCommit | undefined {
    const { executable, step, version, changes, runs } = this;
    if (runs.size === 0) return undefined;
    const parts = Object.fromEntries(Object.entries(changes).map(([key, text]) => [KEY + key, text]));
    return { executable, run: step, expectedVersion: version, head: '{}', parts, inbox: [...runs], records: [] };
  }
}

const idOf = (run: string, version: number): string => `${run}/${version}`;

/** The dbs that one commit changes. */
export class StepDbs {
  private readonly drafts = new Map<string, StepDbDraft>();

  constructor(
    private readonly executable: string,
    private readonly journal: Pick<RunJournal, 'load'>,
  ) {}

  async of(step: string): Promise<StepDbDraft> {
    const known = this.drafts.get(step);
    if (known) return known;
    const { executable, journal } = this;
    const { version, parts } = await journal.load({ executable, run: step });
    const draft = new StepDbDraft(executable, step, version, contentOf(parts));
    this.drafts.set(step, draft);
    return draft;
  }

  commits(): readonly RunCommit[] {
    return [...this.drafts.values()].flatMap((draft) => draft.commit() ?? []);
  }
}

/** A run whose changes may be missing in the db of its step. */
export interface MarkedRun extends DbMark {
  readonly run: string;
}

export const mayBeMissing = ({ version }: DbMark, stored: number): boolean => version > stored - REMEMBERED;

/** Makes the commits that a crash left out between those of the runs and those of the dbs. Idempotent. */
export const completeStepDbs = async (
  executable: string,
  journal: Pick<RunJournal, 'load' | 'seen' | 'commit'>,
  marked: readonly MarkedRun[],
): Promise<void> => {
  const dbs = new StepDbs(executable, journal);
  for (const { run, step, version } of [...marked].sort((a, b) => a.version - b.version)) {
    const seen = await journal.seen({ executable, run: step }, [idOf(run, version)]);
    if (seen.size > 0) continue;
    const { head, parts } = await journal.load({ executable, run });
    const text = parts[DB_CHANGES];
    if (text === undefined || headOf(head).db?.version !== version) continue;
    (await dbs.of(step)).apply(run, JSON.parse(text) as DbChanges, version);
  }
  for (const commit of dbs.commits()) await journal.commit(commit);
};

const PAGE = 100;

/** Names the dbs of an executable's steps. */
export async function* stepDbs(
  executable: string,
  journal: Pick<RunJournal, 'runs'>,
): AsyncIterable<{ readonly executable: string; readonly run: string }> {
  for (let after = ''; ;) {
    const page = await journal.runs(executable, after, PAGE);
    for (const { run } of page) {
      if (!isStepDb(run)) return;
      yield { executable, run };
    }
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.run;
  }
}
