import { type Bridge } from '../bridge.js';

const given = Reflect.get(globalThis, '$bridge') as Bridge;
Reflect.deleteProperty(globalThis, '$bridge');

// Called by name, never passed on, so that no code of a component ever holds one.
export const { say, done, flush, current, now, setTimer, clearTimer } = given;
export const { randomBytes, digest, url, fetch, abortFetch } = given;
