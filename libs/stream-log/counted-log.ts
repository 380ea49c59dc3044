import { type HandedOver } from './handed-over.js';
import { type StreamLog } from './stream-log.js';

/** Wraps a log so that the records handed to its consumers are counted. */
export const countedLog = (log: StreamLog, handedOver: HandedOver): StreamLog => ({
  createTopic: (topic, retention, partitions) => log.createTopic(topic, retention, partitions),
  deleteTopic: (topic) => log.deleteTopic(topic),
  topics: (prefix) => log.topics(prefix),
  lanes: (topic) => log.lanes(topic),
  laneOf: (topic, key) => log.laneOf(topic, key),
  publish: (records) => log.publish(records),
  consume: (options) => log.consume(handedOver.counting(options)),
  read: (lane, after, limit) => log.read(lane, after, limit),
  lag: (group, topics) => log.lag(group, topics),
  committed: (group, topic) => log.committed(group, topic),
  setCommitted: (group, offsets) => log.setCommitted(group, offsets),
});
