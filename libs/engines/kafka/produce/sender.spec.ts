import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Cluster } from '../wire/cluster.js';
import { type Apis, type ProduceBatch } from '../wire/protocol.js';
import { type Outgoing, PartitionQueue } from './produce-batch.js';
import { Sender } from './sender.js';

type Produce = Apis['Produce'];

/** A broker that accepts everything, with the values of the records of each request. */
const brokerWith = (): { readonly cluster: Cluster; readonly requests: string[][] } => {
  const requests: string[][] = [];
  const partitionOf = ({ partition }: ProduceBatch) => ({ partition, errorCode: 0, baseOffset: 0 });
  const call = async (_node: number, _purpose: string, _api: string, { batches }: Produce['args']) => {
    requests.push(batches.flatMap(({ messages }) => messages.map(({ value }) => value)));
    return { topics: batches.map((batch) => ({ topic: batch.topic, partitions: [partitionOf(batch)] })) };
  };
  const callAny = async () => ({ errorCode: 0, producerId: '1', producerEpoch: 0 });
  return { cluster: { call, callAny, warn: () => undefined } as unknown as Cluster, requests };
};

const outgoing = (value: string): Outgoing => ({
  message: { key: 'k', value, headers: {}, timestamp: 0 },
  bytes: 1,
  call: {},
  since: 0,
  done: () => undefined,
  failed: () => undefined,
});

describe('Sender', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const opened = () => {
    const { cluster, requests } = brokerWith();
    const sender: Sender = new Sender(1, cluster, { sent: () => undefined, troubled: () => undefined });
    const queue = new PartitionQueue('t', 0);
    const send = async (value: string): Promise<void> => {
      queue.add(outgoing(value));
      sender.add(queue);
      sender.wake();
      await jest.advanceTimersByTimeAsync(0);
    };
    return { sender, requests, send };
  };

  it('sends the first records after a rest at once', async () => {
    const { sender, requests, send } = opened();
    await send('a');
    expect(requests).toEqual([['a']]);
    await jest.advanceTimersByTimeAsync(1_000);
    await send('b');
    expect(requests).toEqual([['a'], ['b']]);
    await sender.stop();
  });

  it('gathers for a moment what comes right after an answer', async () => {
    const { sender, requests, send } = opened();
    await send('a');
    await send('b');
    await send('c');
    expect(requests).toEqual([['a']]);
    await jest.advanceTimersByTimeAsync(10);
    expect(requests).toEqual([['a'], ['b', 'c']]);
    await sender.stop();
  });
});
