import { type Command } from 'commander';
import { CommandFailure, wrongUsage } from './failure.js';
import { authorCommand, type Told } from './command.js';
import { type Context } from './context.js';
import { confirmed } from './confirm.js';
import { type Session, withQuery } from './session.js';
import { type Source, sourceNamed } from './sources.js';

export const registerStart = (program: Command): void => {
  authorCommand(
    program
      .command('start')
      .description(
        'Activates sources: their endpoints, timers and subscriptions. A server is started by `sluice serve`.',
      )
      .argument('[sources...]', 'id or name of each'),
    (context, names) => {
      if (names.length === 0) throw wrongUsage('name a source. To start a server: "sluice serve".');
      return switched(context, names, true);
    },
  );
};

export const registerStop = (program: Command): void => {
  authorCommand(
    program
      .command('stop')
      .description('Deactivates sources. They keep their events, and their endpoints answer 404.')
      .argument('<sources...>', 'id or name of each'),
    (context, names) => switched(context, names, false),
  );
};

interface DeleteOptions {
  readonly ignoreHookErrors?: boolean;
}

export const registerDelete = (program: Command): void => {
  authorCommand<DeleteOptions>(
    program
      .command('delete')
      .description('Deletes sources with their events, state and subscriptions, after a question or with --yes.')
      .argument('<sources...>', 'id or name of each')
      .option('--ignore-hook-errors', 'delete also when the deactivate hook fails'),
    deleted,
  );
};

const switched = async (context: Context, names: readonly string[], active: boolean): Promise<Told> => {
  const session = await context.session();
  const sources = await named(session, names);
  const done = await each(sources, active ? 'started' : 'stopped', async ({ id }) => {
    await session.request({ method: 'PUT', path: `/v1/sources/${id}`, body: { active } });
    return { id, active };
  });
  return { data: done, lines: sources.map(({ name, id }) => `${name} (${id}): ${active ? 'active' : 'inactive'}`) };
};

const deleted = async (
  context: Context,
  names: readonly string[],
  { ignoreHookErrors = false }: DeleteOptions,
): Promise<Told> => {
  const session = await context.session();
  const sources = await named(session, names);
  const list = sources.map(({ name, id }) => `${name} (${id})`).join(', ');
  await confirmed(context, `Delete ${list} with all events, state and subscriptions?`);
  const query = { ignore_hook_errors: ignoreHookErrors ? 'true' : undefined };
  const done = await each(sources, 'deleted', async ({ id }) => {
    await session.request({ method: 'DELETE', path: withQuery(`/v1/sources/${id}`, query) });
    return { id, deleted: true };
  });
  return { data: done, lines: sources.map(({ name, id }) => `${name} (${id}): deleted`) };
};

/** All are found before anything happens to the first. A source that is named twice counts once. */
const named = async (session: Session, names: readonly string[]): Promise<readonly Source[]> => {
  const sources = new Map<string, Source>();
  for (const name of names) {
    const source = await sourceNamed(session, name);
    sources.set(source.id, source);
  }
  return [...sources.values()];
};

/** Ends with the first failure, and tells what was done before it. */
const each = async <T>(
  sources: readonly Source[],
  verb: string,
  act: (source: Source) => Promise<T>,
): Promise<readonly T[]> => {
  const done: T[] = [];
  for (const source of sources) {
    try {
      done.push(await act(source));
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      const before = sources.slice(0, done.length).map(({ name, id }) => `${name} (${id}): ${verb}`);
      throw error.withMessage(`${source.name} (${source.id}): ${error.message}`, before);
    }
  }
  return done;
};
