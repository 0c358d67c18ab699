/** How long a machine counts as online after its last renewal; tool workers renew every 5 s, so two renewals may be lost. */
export const leaseMs = 15_000;
