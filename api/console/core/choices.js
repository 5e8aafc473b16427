/** What screens let people choose from, as the service calls it: each list once. */

export const MODES = ["normal", "review", "debug"];
export const LAWS = ["weighted", "ebbinghaus", "consolidating", "tiered"];
/** Who spoke, in the plural that a replay's `without_` has; `sources` takes the singular. */
export const KINDS = ["sessions", "sources", "actors", "principals", "models"];
