/** Injection tokens under which the composition root provides implementations of the kernel's interfaces. */
export const CLOCK = Symbol('Clock');
export const EVENT_STORE = Symbol('EventStore');
export const HANDLE_COMMAND = Symbol('HandleCommand');
export const UPCASTERS = Symbol('Upcasters');
export const READ_MODELS = Symbol('ReadModelStore');
export const READ_YOUR_WRITES = Symbol('ReadYourWrites');
export const VAULT = Symbol('Vault');
export const BLOBS = Symbol('BlobStore');
