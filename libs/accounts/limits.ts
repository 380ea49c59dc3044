export const ACCOUNT_LIMITS = {
  accountsPerWorkspace: 1_000,
};

export type AccountLimits = Readonly<typeof ACCOUNT_LIMITS>;
