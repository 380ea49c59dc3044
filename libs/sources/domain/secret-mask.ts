/** Stands for a stored secret in replies; sent back, it means "keep". See docs/reference/rest-api.md#secret-mask. */
export const SECRET_MASK = '********';
