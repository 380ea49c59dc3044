import { type JailVariant } from './jail-level.js';

export const unshareVariants = async (_isRoot: boolean): Promise<readonly JailVariant[]> => [];
