export const DATA_STORE_LIMITS = {
  dataStoresPerWorkspace: 100,
};

export type DataStoreLimits = Readonly<typeof DATA_STORE_LIMITS>;
