extension ChainRuleDefinition {
    static let resending: [Self] = [
        Self(
            .retryInsideRetry,
            .doubtful,
            wrong: "[.retry(3), .retry(3)]",
            right: "[.retry(3)]",
            harm: "The attempts multiply: a failing server gets nine requests for one call.",
            matches: { chain in
                pairs(.retries, outside: .retries)(chain).map { match in
                    var match = match
                    match.remedy = "only one of them: [\(match.elements[0].code)]"
                    return match
                }
            }
        ),
        Self(
            .breakerOutsideRetry,
            .doubtful,
            wrong: "[.circuitBreaker(), .retry(3)]",
            right: "[.retry(3), .circuitBreaker()]",
            harm:
                "Three failed attempts count as one failure, so a failing host gets three times as many requests before the"
                + " circuit opens.",
            matches: pairs(.breaksCircuit, outside: .retries)
        ),
        Self(
            .hedgeOutsideRetry,
            .doubtful,
            wrong: "[.hedge(after: .milliseconds(300)), .retry(3)]",
            right: "[.retry(3), .hedge(after: .milliseconds(300))]",
            harm: "The wait of a retry looks like a late response: a server that fails at once gets six requests.",
            matches: pairs(.hedges, outside: .retries)
        ),
    ]

    static let limits: [Self] = [
        Self(
            .limitOutsideRetry,
            .doubtful,
            wrong: "[.rateLimit(100, per: .seconds(60)), .retry(3)]",
            right: "[.retry(3), .rateLimit(100, per: .seconds(60))]",
            harm:
                "The limit counts a call once, however often it is sent: a limit of 100 lets 300 requests out. A permit is"
                + " held while a retry waits.",
            matches: { chain in
                pairs(.limitsRate, outside: .retries)(chain) + pairs(.limitsConcurrency, outside: .retries)(chain)
            }
        ),
        Self(
            .limitOutsideHedge,
            .doubtful,
            wrong: "[.limitConcurrency(32), .hedge(after: .milliseconds(300))]",
            right: "[.hedge(after: .milliseconds(300)), .limitConcurrency(32)]",
            harm: "The second attempt isn't counted: a limit of 32 lets 64 requests out.",
            matches: pairs(.limits, outside: .hedges)
        ),
        Self(
            .limitOutsideCache,
            .doubtful,
            wrong: "[.limitConcurrency(32), .cache(.memory())]",
            right: "[.cache(.memory()), .limitConcurrency(32)]",
            harm:
                "A stored response waits for a permit or a token that it doesn't need, and an open circuit refuses it.",
            matches: pairs(.limits, outside: .stores)
        ),
        Self(
            .permitHeldDuringRenewal,
            .doubtful,
            wrong: "[.limitConcurrency(32), .retryOnUnauthorized(tokens), .bearerAuth(tokens)]",
            right: "[.retryOnUnauthorized(tokens), .bearerAuth(tokens), .limitConcurrency(32)]",
            harm:
                "While a token is refreshed, the waiting calls hold all permits, so no other call is sent; if the refresh needs"
                + " a permit too, it waits forever.",
            matches: { chain in
                pairs(.limitsConcurrency, outside: .renewsCredentials)(chain)
                    + pairs(.limitsConcurrency, outside: .awaitsRenewal)(chain)
            }
        ),
        Self(
            .timeoutNeverActs,
            .doubtful,
            wrong: "[.timeout(.seconds(10)), .retry(3), .timeout(.seconds(30))]",
            right: "[.timeout(.seconds(30)), .retry(3), .timeout(.seconds(10))]",
            harm: "An attempt that hangs uses up the whole call's time, so it is never retried.",
            matches: pairs(.setsDeadline, outside: .setsDeadline, where: neverActs)
        ),
    ]

    /// Whether one of two timeouts can never end a call.
    private static func neverActs(
        _ outer: LintedChain.Element,
        _ inner: LintedChain.Element,
        _ chain: LintedChain
    ) -> Bool {
        guard let outerPlacement = outer.placement, let innerPlacement = inner.placement else { return false }
        guard let innerLimit = innerPlacement.limit else {
            // Without a limit, an element enforces what its requests ask for, and the outer one does so already.
            return innerPlacement.knowsLimit && outerPlacement.knowsLimit && inner.parts.starts(with: outer.parts)
        }
        guard let outerLimit = outerPlacement.limit else { return false }
        if innerLimit >= outerLimit { return inner.parts.starts(with: outer.parts) }
        // With nothing between them that takes time, the shorter one always ends the call.
        guard outer.parts.starts(with: inner.parts) else { return false }
        let slow: [ChainRole] = [.resends, .waits, .limits, .shares, .supersedes, .mayAddCredentials, .awaitsRenewal]
        return chain.elements(between: outer, and: inner)
            .allSatisfy { element in element.placement != nil && !slow.contains { element.has($0) } }
    }
}
