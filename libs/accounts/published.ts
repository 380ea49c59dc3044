/** Events of connected accounts. Credentials are in the vault; an event holds only their reference. */

/** How and when the access token of an account is refreshed. */
export interface OAuthGrant {
  /** Reference to the token URL and the client's secret. The refresh token is among the credentials. */
  readonly ref: string;
  readonly expiresAt: number;
  /** Time of the first attempt, ahead of the expiry. */
  readonly refreshAt: number;
}
export interface AccountConnected {
  readonly type: 'AccountConnected';
  readonly data: {
    readonly accountId: string;
    readonly userId: string;
    readonly name: string | null;
    /** Slug of the app, such as `slack`. */
    readonly app: string;
    readonly credentialsRef: string;
    /** Absent for credentials that are never refreshed. */
    readonly oauth?: OAuthGrant;
    readonly connectedAt: number;
  };
}
export interface AccountUpdated {
  readonly type: 'AccountUpdated';
  readonly data: {
    readonly name: string | null;
    readonly credentialsRef: string;
    /** Null ends the refresh. Absent when it stays as it is. */
    readonly oauth?: OAuthGrant | null;
    readonly updatedAt: number;
  };
}
/** A process requests a token from now on. No other process does before `until`. */
export interface AccountRefreshStarted {
  readonly type: 'AccountRefreshStarted';
  readonly data: {
    /** Reference under which the new credentials will be in the vault, so that they are found after a crash. */
    readonly credentialsRef: string;
    readonly startedAt: number;
    readonly until: number;
    /** An earlier refresh ended without an outcome. */
    readonly interrupted: boolean;
  };
}
/** Written after the new credentials, with a rotated refresh token among them, are durable in the vault. */
export interface AccountRefreshed {
  readonly type: 'AccountRefreshed';
  readonly data: {
    readonly credentialsRef: string;
    readonly replacedRef: string;
    readonly expiresAt: number;
    readonly refreshAt: number;
    readonly refreshedAt: number;
  };
}
export interface AccountRefreshFailed {
  readonly type: 'AccountRefreshFailed';
  /** `retryAt` is null when only new credentials help. */
  readonly data: { readonly reason: string; readonly failedAt: number; readonly retryAt: number | null };
}
/** The credentials were shown to the event's actor. */
export interface AccountCredentialsShown {
  readonly type: 'AccountCredentialsShown';
  readonly data: { readonly shownAt: number };
}
export interface AccountDisconnected {
  readonly type: 'AccountDisconnected';
  readonly data: { readonly disconnectedAt: number };
}
export type AccountEvent =
  | AccountConnected
  | AccountUpdated
  | AccountRefreshStarted
  | AccountRefreshed
  | AccountRefreshFailed
  | AccountCredentialsShown
  | AccountDisconnected;
