export const TENANCY_LIMITS = {
  apiKeysPerUser: 100,
  membersPerWorkspace: 100,
};

export type TenancyLimits = Readonly<typeof TENANCY_LIMITS>;
