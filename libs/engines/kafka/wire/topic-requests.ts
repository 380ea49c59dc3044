import { createTopicsV7, deleteTopicsV6, describeConfigsV4, incrementalAlterConfigsV1 } from '@platformatic/kafka';
import { request, type Requests } from './request.js';

const TOPIC = 2;
const SET = 0;
const UNKNOWN_ERROR = -1;

/** Requests for topics and their settings. */
export const topicRequests: Requests<
  'CreateTopic' | 'DeleteTopic' | 'DescribeTopicConfigs' | 'IncrementalAlterConfigs'
> = {
  CreateTopic: request(createTopicsV7.api)(
    ({ timeout, topic, partitions, copies, entries }) => [
      [{ name: topic, numPartitions: partitions, replicationFactor: copies, assignments: [], configs: [...entries] }],
      timeout,
      false,
    ],
    ({ topics }) => failureOf(topics[0]),
  ),
  DeleteTopic: request(deleteTopicsV6.api)(
    ({ timeout, topic }) => [[{ name: topic }], timeout],
    ({ responses }) => failureOf(responses[0]),
  ),
  DescribeTopicConfigs: request(describeConfigsV4.api)(
    ({ topics, names }) => [
      topics.map((topic) => ({ resourceType: TOPIC, resourceName: topic, configurationKeys: [...names] })),
      false,
      false,
    ],
    ({ results }) => ({
      topics: results.map(({ errorCode, errorMessage, resourceName, configs }) => ({
        errorCode,
        errorMessage: errorMessage ?? null,
        topic: resourceName,
        entries: configs.map(({ name, value }) => ({ name, value: value ?? '' })),
      })),
    }),
  ),
  IncrementalAlterConfigs: request(incrementalAlterConfigsV1.api)(
    ({ topics }) => [
      topics.map(({ topic, entries }) => ({
        resourceType: TOPIC,
        resourceName: topic,
        configs: entries.map(({ name, value }) => ({ name, value, configOperation: SET })),
      })),
      false,
    ],
    ({ responses }) => ({
      topics: responses.map((answer) => ({ ...failureOf(answer), topic: answer.resourceName })),
    }),
  ),
};

const failureOf = (answer?: {
  readonly errorCode: number;
  readonly errorMessage?: string | null | undefined;
}): { readonly errorCode: number; readonly errorMessage: string | null } => ({
  errorCode: answer?.errorCode ?? UNKNOWN_ERROR,
  errorMessage: answer?.errorMessage ?? null,
});
