import { type Asking } from './ask-prop.js';
import { type Fields, fieldText, textOf } from './json.js';
import { readList } from './pages.js';
import { type Choice } from './prompts.js';

const NEW = 'new';
const NONE = 'none';

/** Asks for an account of an app, which may be a new one. Undefined for none, which some apps work without. */
export const askAccount = async (asking: Asking, message: string, app: string): Promise<unknown> => {
  const { prompts, session } = asking;
  const path = `/v1/workspaces/${await session.workspaceId()}/accounts`;
  const { items } = await readList(session, path, { all: true }, { app });
  const chosen = await prompts.choose(message, [
    ...items.map(choiceOf),
    { name: `A new account of ${app}`, value: NEW },
    { name: 'No account', value: NONE },
  ]);
  if (chosen === NONE) return undefined;
  return { authProvisionId: chosen === NEW ? await newAccount(asking, app) : chosen };
};

const choiceOf = (item: Fields): Choice => {
  const [id, name] = [fieldText(item, 'id'), textOf(item['name'])];
  return { name: name === '' ? id : `${name} (${id})`, value: id };
};

/** Fields are shown by their names only, because any may be secret. */
const newAccount = async ({ prompts, session }: Asking, app: string): Promise<string> => {
  const name = await prompts.text('Name of the account', '');
  const credentials: [string, string][] = [];
  for (;;) {
    const field = await prompts.text(`Field ${credentials.length + 1} of $auth (empty to end)`, '');
    if (field === '') break;
    credentials.push([field, await prompts.secret(`Value of ${field}`)]);
  }
  const body = { app, credentials: Object.fromEntries(credentials), ...(name === '' ? {} : { name }) };
  const { data } = await session.request({ method: 'POST', path: '/v1/accounts', body });
  return fieldText(data, 'id');
};

/** Asks for a data store. A new one is made by the deployment, which gets its name. */
export const askStore = async ({ prompts, session }: Asking, message: string): Promise<unknown> => {
  const { items } = await readList(session, '/v1/data_stores', { all: true });
  const chosen = await prompts.choose(message, [...items.map(choiceOf), { name: 'A new data store', value: NEW }]);
  if (chosen !== NEW) return chosen;
  const name = await prompts.text('Name of the data store', '');
  return name === '' ? undefined : name;
};
