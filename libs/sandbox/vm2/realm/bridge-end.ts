import { type Bridge } from '../bridge.js';

const given = Reflect.get(globalThis, '$bridge') as Bridge;
Reflect.deleteProperty(globalThis, '$bridge');

// Call these by name and never pass them on, so that a component never gets a reference to one.
export const { say, done, flush, sourceMap, current, now, setTimer, clearTimer } = given;
export const { randomBytes, digest, url, fetch, abortFetch } = given;
