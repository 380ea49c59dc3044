import { describe, expect, it } from '@jest/globals';
import { areaOf, IDLE, PROFILER, timeByArea, timeByFunction } from './profile-areas.js';

describe('areaOf', () => {
  const of = (url: string, functionName = 'f') => areaOf({ functionName, url });

  it('names packages, our folders and parts of Node', () => {
    expect(of('file:///x/node_modules/kafkajs/src/protocol/encoder.js')).toBe('kafkajs (encoding)');
    expect(of('file:///x/node_modules/mongodb/node_modules/bson/lib/bson.cjs')).toBe('bson (driver of MongoDB)');
    expect(of('file:///x/node_modules/@grpc/grpc-js/build/src/call.js')).toBe('gRPC and EventStoreDB client');
    expect(of('file:///x/dist/libs/engines/kafka/wire/broker-connection.js')).toBe('ours: engines/kafka');
    expect(of('file:///x/dist/libs/routing/router.js')).toBe('ours: routing');
    expect(of('file:///x/dist/apps/router/src/main.js')).toBe('ours: apps');
    expect(of('node:net')).toBe('sockets and streams');
    expect(of('node:internal/stream_base_commons')).toBe('sockets and streams');
    expect(of('node:internal/crypto/hash')).toBe('crypto');
  });

  it('classifies functions without a file by name', () => {
    expect(of('', '(idle)')).toBe(IDLE);
    expect(of('', '(garbage collector)')).toBe('garbage collection');
    expect(of('', 'dispatch')).toBe(PROFILER);
    expect(of('', 'writev')).toBe('sockets and streams');
  });
});

describe('timeByArea', () => {
  const url = 'file:///x/dist/libs/routing/router.js';
  const profile = {
    nodes: [
      { id: 1, callFrame: { functionName: '(root)', url: '' }, children: [2, 3] },
      { id: 2, callFrame: { functionName: '(idle)', url: '' } },
      { id: 3, callFrame: { functionName: 'routeBatch', url }, children: [4] },
      { id: 4, callFrame: { functionName: 'parse', url: '' } },
    ],
    samples: [2, 3, 4, 3],
    timeDeltas: [500, 100, 200, 300],
  };

  it('sums self time, most first', () => {
    expect(timeByArea(profile)).toEqual([
      { area: IDLE, us: 500 },
      { area: 'ours: routing', us: 400 },
      { area: 'JSON', us: 200 },
    ]);
  });

  it('names functions with their file', () => {
    expect(timeByFunction(profile)[1]).toEqual({ area: 'routeBatch libs/routing/router.js', us: 400 });
  });
});
