/** Replaces `sluice`, the package that authors install for its types, inside the jail. */
export { defineAction, defineApp, defineSource } from '#libs/authoring/index.js';
