export const VARIABLE_LIMITS = {
  variablesPerWorkspace: 200,
};

export type VariableLimits = Readonly<typeof VARIABLE_LIMITS>;
