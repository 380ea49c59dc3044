/** Limits on the warnings about one component. They are kept with it in the event log. Texts count in characters. */
export const WARNING_LIMITS = {
  count: 100,
  code: 64,
  message: 1_000,
  path: 300,
} as const;
