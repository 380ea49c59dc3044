import { setTimeout as pause } from 'node:timers/promises';
import { Server, ServerCredentials, type handleUnaryCall } from '@grpc/grpc-js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import { ServerFeaturesService } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import type { Empty } from '@eventstore/db-client/generated/shared_pb.js';
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { appendCall, batchAppendCall } from './append-calls.js';
import { Log } from './log.js';
import { unimplemented } from './messages.js';
import { ReadFigures, readCall } from './read-calls.js';

export interface StandInOptions {
  /** Default: a free port. */
  readonly port?: number;
  /**
   * Folder of the log, which can be opened again after the process was killed. Default: a new folder, removed by
   * stop().
   */
  readonly dir?: string;
  /** As the server tells it. Default: 23.10.0.0. */
  readonly version?: string;
  /** Largest append in bytes. Default: that of the server, 1 MiB. */
  readonly maxAppendSize?: number;
}

export interface StandIn {
  readonly url: string;
  readonly port: number;
  readonly reads: ReadFigures;
  /** Number of calls so far, by method name. */
  calls(name: 'append' | 'batchAppend' | 'read' | 'getSupportedMethods'): number;
  /** Drops every connection at once. Accepts new ones immediately, on the same port. */
  cut(): Promise<void>;
  /** Drops every connection and keeps the log for another start on the same folder. */
  stop(): Promise<void>;
}

/**
 * NOT EventStoreDB: a stand-in for machines without it. It speaks the real gRPC protocol, with the messages of the real
 * client, over the event log of the embedded engine. It shows that our adapter and the client's code agree with the
 * protocol as we read it: appends and batch appends, reads, filtered subscriptions, wrong expected version, lost
 * connections. It shows nothing of the real server's timing, limits, disks, cluster or permissions. For those run the
 * same suite with SLUICE_TEST_EVENTSTORE set (docs/adr/0013-eventstoredb.md).
 */
export const startEventStoreStandIn = async (options: StandInOptions = {}): Promise<StandIn> => {
  const { dir = tempDir('eventstore'), version = '23.10.0.0', maxAppendSize = 1024 * 1024 } = options;
  const log = await Log.open(dir, (error) => {
    throw error;
  });
  const calls = new Map<string, number>();
  const reads = new ReadFigures();
  const counted = <A extends unknown[]>(name: string, handle: (...args: A) => void): ((...args: A) => void) => {
    return (...args) => {
      calls.set(name, (calls.get(name) ?? 0) + 1);
      handle(...args);
    };
  };
  const listen = async (port: number): Promise<{ server: Server; port: number }> => {
    const server = new Server({ 'grpc.max_receive_message_length': 17 << 20 });
    const absent = (_: unknown, answer: (error: Error) => void): void => answer(unimplemented('this'));
    server.addService(ServerFeaturesService, {
      getSupportedMethods: counted('getSupportedMethods', supportedMethods(version)),
    });
    server.addService(StreamsService, {
      delete: absent,
      tombstone: absent,
      read: counted('read', readCall(log, reads)),
      append: counted('append', appendCall(log, maxAppendSize)),
      batchAppend: counted('batchAppend', batchAppendCall(log, maxAppendSize)),
    });
    return { server, port: await bound(server, port) };
  };
  let current = await listen(options.port ?? 0);
  const { port } = current;
  const drop = (): void => {
    current.server.forceShutdown();
    for (const live of reads.live) live.abort();
  };
  return {
    url: `esdb://127.0.0.1:${port}?tls=false`,
    port,
    reads,
    calls: (name) => calls.get(name) ?? 0,
    cut: async () => {
      drop();
      current = await listen(port);
    },
    stop: async () => {
      drop();
      await log.close();
      if (options.dir === undefined) removeDir(dir);
    },
  };
};

const supportedMethods =
  (version: string): handleUnaryCall<Empty, SupportedMethods> =>
  (_, answer) => {
    const supported = new features.SupportedMethods().setEventStoreServerVersion(version);
    for (const method of ['read', 'append', 'batchappend']) {
      const named = new features.SupportedMethod().setMethodName(method);
      supported.addMethods(named.setServiceName('event_store.client.streams.streams'));
    }
    answer(null, supported);
  };

/** Returns the port listened on. A port that was just released may be taken for a moment. */
const bound = async (server: Server, port: number): Promise<number> => {
  for (let left = 20; ; left--) {
    try {
      return await new Promise<number>((resolve, reject) => {
        server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, taken) =>
          error ? reject(error) : resolve(taken),
        );
      });
    } catch (error) {
      if (left === 0) throw error;
      await pause(50);
    }
  }
};
