import { type ApiClient, type Paged, type Source } from '#test/harness/api-client.js';

/** Answers of the API from its read models, by path. Lists are complete, with every page. */
export type Answers = ReadonlyMap<string, string>;

const CHANNELS = ['', '$errors', '$logs'];

export const readAnswers = async (
  api: ApiClient,
  sources: readonly Source[],
  webhookIds: readonly string[],
): Promise<Answers> => {
  const single = [
    ...sources.flatMap(({ id, component_id }) => [`/v1/sources/${id}`, `/v1/components/${component_id}`]),
    ...webhookIds.map((id) => `/v1/webhooks/${id}`),
    // Answered whole (docs/reference/rest-api.md#subscription-lists).
    '/v1/users/me/subscriptions',
  ];
  const lists = [
    '/v1/users/me/sources?',
    '/v1/users/me/webhooks?',
    ...sources.flatMap(({ id }) => [
      `/v1/audit/${id}?`,
      ...CHANNELS.map((channel) => `/v1/sources/${id}/event_summaries?expand=event&event_name=${channel}&`),
    ]),
    ...webhookIds.map((id) => `/v1/webhooks/${id}/deliveries?`),
  ];
  const answers = new Map<string, string>();
  for (const path of single) answers.set(path, JSON.stringify(await api.expect(200, 'GET', path)));
  for (const path of lists) answers.set(path, JSON.stringify(await wholeList(api, path)));
  return answers;
};

const wholeList = async (api: ApiClient, path: string): Promise<unknown> => {
  const all: unknown[] = [];
  let total = 0;
  for (let after: string | null = ''; after !== null;) {
    const cursor: string = after === '' ? '' : `&after=${encodeURIComponent(after)}`;
    const page: Paged<unknown> = await api.expect(200, 'GET', `${path}limit=100${cursor}`);
    all.push(...page.data);
    total = page.page_info.total_count;
    after = page.data.length < 100 ? null : page.page_info.end_cursor;
  }
  return { total, all };
};

/** Differences as sentences with the position of the first one. Empty when there are none. */
export const differences = (before: Answers, after: Answers): string[] =>
  [...before].flatMap(([path, text]) => {
    const now = after.get(path) ?? 'nothing';
    if (now === text) return [];
    let at = 0;
    while (now[at] === text[at]) at++;
    const around = (answer: string): string => answer.slice(Math.max(0, at - 80), at + 80);
    return [`GET ${path} answers after the rebuild "…${around(now)}…", and before it "…${around(text)}…"`];
  });
