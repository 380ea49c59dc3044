import { ApiClient, type Data, type Paged, type Source } from '#test/harness/api-client.js';
import { relayCode } from '#test/harness/component-code.js';
import { Server } from '#test/harness/server.js';

/**
 * Many clients change, list and delete the same sources: `npm run contention [seconds] [clients]`. Each change reads a
 * number in a source's name, adds one and writes it with If-Match, so a lost update would show as a number too small.
 * Fails on a lost update, on any 5xx, and when lists, names and histories disagree at the end.
 */
const seconds = Number(process.argv[2] ?? 60);
const clients = Number(process.argv[3] ?? 200);
const SOURCES = 20;
/** The first half is never deleted: a walk through the pages must show each of them once. */
const LASTING = SOURCES / 2;

type Revised = Source & { readonly revision: number };
const server = new Server({ env: { SLUICE_LOG_LEVEL: 'error' } });
const api = new ApiClient(server);
const statuses = new Map<number, number>();
const faults: string[] = [];
const counted = new Map<string, number>();
const slots: string[] = [];

const deployed = async (): Promise<string> => {
  const { id } = await api.createSource({ component_code: relayCode(), name: 'n 0' });
  counted.set(id, 0);
  return id;
};
const seen = (status: number, what: string): number => {
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  if (status >= 500) faults.push(`${what} answered ${status}`);
  return status;
};

const change = async (): Promise<void> => {
  const id = slots[Math.floor(Math.random() * SOURCES)] ?? '';
  const read = await api.call<Data<Revised>>('GET', `/v1/sources/${id}`);
  if (seen(read.status, 'GET') !== 200) return;
  const { name, revision } = read.body.data;
  const next = Number(name.split(' ')[1]) + 1;
  const headers = { 'if-match': `"${revision}"` };
  const reply = await api.call('PUT', `/v1/sources/${id}`, { headers, body: { name: `n ${next}` } });
  if (seen(reply.status, 'PUT') === 200) counted.set(id, (counted.get(id) ?? 0) + 1);
};

const replaceOne = async (): Promise<void> => {
  const slot = LASTING + Math.floor(Math.random() * (SOURCES - LASTING));
  const id = slots[slot] ?? '';
  if (seen((await api.call('DELETE', `/v1/sources/${id}`)).status, 'DELETE') !== 204) return;
  counted.delete(id);
  slots[slot] = await deployed();
};

/** Walks through all pages, even past a source that is deleted during the walk. */
const walk = async (): Promise<readonly string[] | undefined> => {
  const ids: string[] = [];
  for (let after: string | null = null; ;) {
    const query: Record<string, string> = { limit: '5', ...(after === null ? {} : { after }) };
    const reply = await api.call<Paged<Source>>('GET', '/v1/users/me/sources', { query });
    if (seen(reply.status, 'list') !== 200) {
      faults.push(`a page was answered ${reply.status}`);
      return undefined;
    }
    ids.push(...reply.body.data.map(({ id }) => id));
    after = reply.body.page_info.end_cursor;
    if (after === null || reply.body.data.length < 5) return ids;
  }
};

const list = async (): Promise<void> => {
  const ids = await walk();
  if (ids === undefined) return;
  if (new Set(ids).size !== ids.length) faults.push('a walk through the pages showed a source twice');
  for (const id of slots.slice(0, LASTING)) if (!ids.includes(id)) faults.push(`a walk did not show ${id}`);
};

await server.start();
try {
  for (let i = 0; i < SOURCES; i++) slots.push(await deployed());
  const end = Date.now() + seconds * 1_000;
  let actions = 0;
  const client = async (): Promise<void> => {
    while (Date.now() < end) {
      actions++;
      const chance = Math.random();
      await (chance < 0.7 ? change() : chance < 0.99 ? list() : replaceOne());
    }
  };
  await Promise.all(Array.from({ length: clients }, client));

  const ids = new Set((await walk()) ?? []);
  for (const id of slots) {
    if (!ids.has(id)) faults.push(`${id} is in no list at the end`);
    const { name, revision } = (await api.expect<Data<Revised>>(200, 'GET', `/v1/sources/${id}`)).data;
    if (Number(name.split(' ')[1]) !== counted.get(id))
      faults.push(`${id} is called "${name}" after ${String(counted.get(id))} changes`);
    const history = await api.expect<Paged<unknown>>(200, 'GET', `/v1/audit/${id}`, { query: { limit: '1' } });
    if (history.page_info.total_count !== revision + 1) faults.push(`the history of ${id} does not end at ${revision}`);
  }
  const changes = [...counted.values()].reduce((sum, n) => sum + n, 0);
  console.log(JSON.stringify({ clients, seconds, actions, changes, statuses: Object.fromEntries(statuses) }));
  for (const fault of new Set(faults)) console.error(fault);
} finally {
  await api.close();
  await server.close();
}
process.exit(faults.length === 0 ? 0 : 1);
