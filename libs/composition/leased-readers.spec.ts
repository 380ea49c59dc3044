import { afterEach, describe, expect, it } from '@jest/globals';
import { loadConfig } from '#libs/config/index.js';
import { type EmbeddedEngines } from '#libs/engines/embedded/index.js';
import { eventually } from '#libs/engines/conformance/eventually.js';
import { enginesForEach } from '#libs/engines/embedded/testing/engines-for-each.js';
import { systemClock } from '#libs/kernel/clock.js';
import { newCommandId, eventIdOf } from '#libs/kernel/ids.js';
import { type LaneWrites } from '#libs/stream-log/lane-writes.js';
import { ClaimedLanes } from '#libs/stream-log/testing/claimed-lanes.js';
import { createLogger } from '#libs/telemetry/index.js';
import { followControlPlane } from './control-plane.js';
import { type LeasedReaders } from '#libs/cluster/leased-readers.js';
import { leasedReaders } from './roles/projector.js';
import { topicPolicy } from './topic-policy.js';
import { createFixedTopics } from '#libs/stream-log/fixed-topics.js';

const fail = (error: Error): never => {
  throw error;
};

const forEach = enginesForEach('leased-readers');
const running: LeasedReaders[] = [];
const releases: (() => void)[] = [];
afterEach(async () => {
  for (const release of releases.splice(0)) release();
  for (const readers of running.splice(0)) await readers.close();
});

/** The role over embedded engines, whose lanes it shares with others. */
const readersOn = async (engines: EmbeddedEngines, lanes: LaneWrites): Promise<LeasedReaders> => {
  const config = loadConfig({ SLUICE_DATA_DIR: forEach.dataDir }, () => undefined);
  const topics = topicPolicy(config);
  await createFixedTopics(engines.log, topics);
  const faultOf = (): undefined => undefined;
  const plane = await followControlPlane({ ...engines, lanes, faultOf }, systemClock, fail);
  const readers = leasedReaders({
    config,
    plane,
    topics,
    logger: createLogger({ level: 'silent', role: 'spec' }),
    platformEvents: { report: () => undefined } as never,
  });
  running.push(readers);
  releases.push(() => void plane.follower.stop());
  readers.start();
  return readers;
};

const sourceDeleted = async ({ events }: EmbeddedEngines): Promise<string> => {
  const commandId = newCommandId();
  const metadata = {
    commandId,
    schemaVersion: 1,
    $correlationId: commandId,
    $causationId: commandId,
    actor: { userId: 'u_1', apiKeyId: null },
    workspaceId: 'o_1',
  };
  const event = { id: eventIdOf(commandId, 'source-dc_1', 0), type: 'SourceDeleted', data: { deletedAt: 1 }, metadata };
  return (await events.append('source-dc_1', [event], 'no_stream')).position;
};

describe('the position for which commands wait', () => {
  it('passes the deletion of a source whose events take long to remove', async () => {
    const engines = await forEach.open();
    let removing = false;
    const released = new Promise<void>((resolve) => releases.push(resolve));
    const lanes = new ClaimedLanes(engines.readModels);
    const readers = await readersOn(engines, {
      claimLanes: async (...args) => {
        removing = true;
        await released;
        return lanes.claimLanes(...args);
      },
      applyLanes: (batch) => lanes.applyLanes(batch),
    });
    await eventually('every reader', () => readers.owned() > 20);
    const position = await sourceDeleted(engines);
    await eventually('the removal', () => removing);
    await eventually('the position', () => readers.position() >= position);
    expect(readers.status().filter(({ failure }) => failure !== undefined)).toEqual([]);
  });
});
