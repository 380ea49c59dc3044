/** Injection tokens under which the composition root provides the data plane to slices. */
export const STREAM_LOG = Symbol('StreamLog');
export const TOPIC_POLICY = Symbol('TopicPolicy');
export const DELAYED_EVENTS = Symbol('DelayedEvents');
