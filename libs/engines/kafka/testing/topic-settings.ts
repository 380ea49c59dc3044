import { type TopicAdmin } from '../admin/topic-admin.js';

/** Settings of topics, which accept or refuse every change. `configs` returns those of a topic. */
export const topicSettings = (
  configs: (topic: string) => ReadonlyMap<string, string> | undefined,
  mayAlter: boolean,
): { readonly admin: Pick<TopicAdmin, 'configs' | 'alterAll'>; readonly altered: readonly string[] } => {
  const altered: string[] = [];
  const admin: Pick<TopicAdmin, 'configs' | 'alterAll'> = {
    configs: async (names) => {
      const found = new Map<string, ReadonlyMap<string, string>>();
      for (const name of names) {
        const of = configs(name);
        if (of) found.set(name, of);
      }
      return found;
    },
    alterAll: async (names, entriesOf) => {
      if (!mayAlter) return new Map(names.map((name) => [name, new Error('TOPIC_AUTHORIZATION_FAILED')]));
      for (const topic of names) {
        const entries = entriesOf(topic).map(({ name, value }) => `${name}=${value}`);
        altered.push(`${topic} ${entries.join()}`);
      }
      return new Map();
    },
  };
  return { admin, altered };
};
