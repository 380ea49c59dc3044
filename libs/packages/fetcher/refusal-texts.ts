export const notOpen = (name: string): string => `the npm package "${name}" is not available to this workspace`;

export const denied = (name: string): string =>
  `the npm package "${name}" is not allowed on this server: use another one, or ask the operator, who lists it in SLUICE_NPM_DENY`;
