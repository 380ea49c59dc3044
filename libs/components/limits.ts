/** `codeBytesPerWorkspace`: bytes of component code and bundles. */
export const COMPONENT_LIMITS = {
  codeBytesPerWorkspace: 1024 * 1024 * 1024,
};

export type ComponentLimits = Readonly<typeof COMPONENT_LIMITS>;
