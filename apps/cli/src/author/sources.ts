import { nearMiss } from '#libs/kernel/near-miss.js';
import { CommandFailure } from './failure.js';
import { type Fields, fieldText, isFields } from './json.js';
import { readList } from './pages.js';
import { type Session } from './session.js';

export interface Source {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
  readonly revision: number;
  readonly fields: Fields;
}

/** The source with this id or name slug. Rejects with 4, and names the one that was probably meant. */
export const sourceNamed = async (session: Session, name: string): Promise<Source> => {
  const source = await sourceIfThere(session, name);
  if (source === undefined) throw await noSource(session, name);
  return source;
};

/** The source with this id or name slug, or undefined. */
export const sourceIfThere = async (session: Session, name: string): Promise<Source | undefined> => {
  try {
    const { data } = await session.request({ method: 'GET', path: `/v1/sources/${encodeURIComponent(name)}` });
    return sourceIn(data);
  } catch (error) {
    if (error instanceof CommandFailure && error.code === 'source_not_found') return undefined;
    throw error;
  }
};

export const sourceIn = (data: unknown): Source => {
  const fields = isFields(data) ? data : {};
  const { active, revision } = fields;
  return {
    id: fieldText(fields, 'id'),
    name: fieldText(fields, 'name_slug'),
    active: active === true,
    revision: typeof revision === 'number' ? revision : 0,
    fields,
  };
};

const noSource = async (session: Session, name: string): Promise<CommandFailure> => {
  // A guess from the newest is enough, and bounds what a typing mistake costs.
  const path = `/v1/workspaces/${await session.workspaceId()}/sources`;
  const { items } = await readList(session, path, { number: '100' });
  const meant = nearMiss(
    name,
    items.map((item) => fieldText(item, 'name_slug')),
  );
  const hint = meant === undefined ? '' : ` Meant "${meant}"?`;
  return new CommandFailure({
    exit: 4,
    code: 'source_not_found',
    status: 404,
    message: `no source is called ${JSON.stringify(name.slice(0, 100))}.${hint} "sluice list sources" shows all.`,
    next: 'sluice list sources',
  });
};
