import { dataRequests } from './data-requests.js';
import { groupRequests } from './group-requests.js';
import { type Api } from './protocol.js';
import { type Requests } from './request.js';
import { topicRequests } from './topic-requests.js';

/** Every request that this engine sends, in the one version in which it sends it. */
export const REQUESTS: Requests<Api> = { ...dataRequests, ...groupRequests, ...topicRequests };
