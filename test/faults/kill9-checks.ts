import { type ApiClient, type Source } from '#test/harness/api-client.js';
import { type Received, type WebhookReceiver } from '#test/harness/webhook-receiver.js';
import { type Ledger } from './kill9-load.js';

interface Payload {
  readonly id: number;
  readonly n?: number;
}

const payloadOf = ({ body }: Received): Payload => body as Payload;

export const receivedOf = (receiver: WebhookReceiver, source: Source): readonly Received[] =>
  receiver.accepted.filter(({ emitterId }) => emitterId === source.id);

export const missingOf = (receiver: WebhookReceiver, { source, acknowledged }: Ledger): number[] => {
  const arrived = new Set(receivedOf(receiver, source).map((one) => payloadOf(one).id));
  return [...acknowledged].filter((id) => !arrived.has(id));
};

/** Checks rules that a kill must not break. Returns a sentence for each violation. */
export const problemsOf = (receiver: WebhookReceiver, ledgers: readonly Ledger[]): string[] => [
  ...(receiver.unsigned === 0 ? [] : [`${receiver.unsigned} deliveries with a bad signature`]),
  ...sameIdSameContent(receiver),
  ...ledgers.flatMap((ledger) => [
    ...nothingLost(receiver, ledger),
    ...oneEmitForEachId(receiver, ledger),
    ...unexpectedAnswers(ledger),
  ]),
];

const unexpectedAnswers = ({ source, unexpected }: Ledger): string[] =>
  [...unexpected].map(([answer, times]) => `${source.name}: ${times} events were answered ${answer}`);

const nothingLost = (receiver: WebhookReceiver, ledger: Ledger): string[] => {
  const missing = missingOf(receiver, ledger);
  if (missing.length === 0) return [];
  return [
    `${ledger.source.name}: ${missing.length} acknowledged events lost, for example ${missing.slice(0, 10).join(', ')}`,
  ];
};

/** A repeat is recognisable by the same webhook-id, emit id and body. */
const sameIdSameContent = (receiver: WebhookReceiver): string[] => {
  const firsts = new Map<string, Received>();
  return receiver.accepted.flatMap((one) => {
    const first = firsts.get(one.webhookId) ?? one;
    firsts.set(one.webhookId, first);
    const same = first.emitId === one.emitId && first.text === one.text && first.emitterId === one.emitterId;
    return same ? [] : [`webhook-id ${one.webhookId} came with different content`];
  });
};

/** An invocation that runs again after a crash must not emit under new ids. */
const oneEmitForEachId = (receiver: WebhookReceiver, { source }: Ledger): string[] => {
  const emits = new Map<number, Set<string>>();
  for (const one of receivedOf(receiver, source)) {
    const { id } = payloadOf(one);
    const known = emits.get(id) ?? new Set();
    emits.set(id, known.add(`${one.emitId} as ${one.webhookId}`));
  }
  return [...emits]
    .filter(([, known]) => known.size > 1)
    .slice(0, 5)
    .map(([id, known]) => `${source.name}: event ${id} was emitted ${known.size} times: ${[...known].join(', ')}`);
};

/** The counter's n must run from 1 to the number of distinct events, without repeats or gaps. */
export const counterProblems = (receiver: WebhookReceiver, source: Source): string[] => {
  const byId = new Map(receivedOf(receiver, source).map((one) => [payloadOf(one).id, payloadOf(one).n ?? 0]));
  const numbers = [...byId.values()].sort((a, b) => a - b);
  const wrong = numbers.findIndex((n, index) => n !== index + 1);
  if (wrong < 0) return [];
  return [
    `${source.name}: ${numbers.length} distinct events, but their counter goes ${numbers.slice(wrong, wrong + 5).join(', ')} at place ${wrong + 1}`,
  ];
};

export const counterIsWhole = (receiver: WebhookReceiver, source: Source, barrier: number): boolean => {
  const all = receivedOf(receiver, source).map(payloadOf);
  const last = all.find(({ id }) => id === barrier)?.n;
  return last !== undefined && new Set(all.map(({ id }) => id)).size >= last;
};

/** Ids of a history descend without a repeat, and each emit appears once. */
export const historyProblems = async (api: ApiClient, source: Source): Promise<string[]> => {
  const { data } = await api.summaries(source.id);
  const order = (id: string): readonly number[] => id.split('-').map(Number);
  const disordered = data.some(({ id }, index) => {
    const [ms = 0, seq = 0] = order(id);
    const [beforeMs = Infinity, beforeSeq = 0] = order(data[index - 1]?.id ?? '');
    return index > 0 && (ms > beforeMs || (ms === beforeMs && seq >= beforeSeq));
  });
  const emits = new Set(data.map(({ metadata }) => metadata.emit_id)).size;
  return [
    ...(disordered ? [`${source.name}: the history is not in order`] : []),
    ...(emits === data.length ? [] : [`${source.name}: ${data.length - emits} events are in the history twice`]),
  ];
};
