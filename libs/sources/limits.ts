export const SOURCE_LIMITS = {
  sourcesPerWorkspace: 10_000,
};

export type SourceLimits = Readonly<typeof SOURCE_LIMITS>;
