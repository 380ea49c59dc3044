/** Events of connected accounts. Credentials are in the vault; an event holds only their reference. */
export interface AccountConnected {
  readonly type: 'AccountConnected';
  readonly data: {
    readonly accountId: string;
    readonly userId: string;
    readonly name: string | null;
    /** Slug of the app, such as `slack`. */
    readonly app: string;
    readonly credentialsRef: string;
    readonly connectedAt: number;
  };
}
export interface AccountUpdated {
  readonly type: 'AccountUpdated';
  readonly data: { readonly name: string | null; readonly credentialsRef: string; readonly updatedAt: number };
}
/** Somebody was shown the credentials. The event's actor is the reader. */
export interface AccountCredentialsShown {
  readonly type: 'AccountCredentialsShown';
  readonly data: { readonly shownAt: number };
}
export interface AccountDisconnected {
  readonly type: 'AccountDisconnected';
  readonly data: { readonly disconnectedAt: number };
}
export type AccountEvent = AccountConnected | AccountUpdated | AccountCredentialsShown | AccountDisconnected;
