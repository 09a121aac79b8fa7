extension ChainRuleDefinition {
    static let resending: [Self] = [
        Self(
            .retryInsideRetry,
            .doubtful,
            wrong: "[.retry(3), .retry(3)]",
            right: "[.retry(3)]",
            harm: "The attempts multiply: with three each, a failing server gets nine requests for one call.",
            matches: { chain in
                pairs(.retries, outside: .retries)(chain).map { match in
                    var match = match
                    let outcomes = match.elements.map { $0.placement?.statuses(of: .retries) }
                    if let outer = outcomes[0], let inner = outcomes[1], outer.isDisjoint(with: inner) {
                        match.doubt = .strong
                    }
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
            .breakerOpenedByOneCall,
            .doubtful,
            wrong: "[.retry(3), .circuitBreaker(.consecutiveFailures(3))]",
            right: "[.retry(3), .circuitBreaker(.consecutiveFailures(6))]",
            harm:
                "One call whose attempts all fail opens the circuit: a single bad path makes the host refuse all calls.",
            matches: { chain in
                pairs(.retries, outside: .breaksCircuit)(chain).compactMap { match in
                    let (retry, breaker) = (match.elements[0], match.elements[1])
                    guard let attempts = retry.placement?.count(of: .retries),
                        let failures = breaker.placement?.count(of: .breaksCircuit), failures <= attempts
                    else { return nil }
                    var match = match
                    match.message =
                        "\(breaker.label) opens after \(failures) failures, and \(retry.label) may add \(attempts)."
                    match.remedy = ".circuitBreaker(.consecutiveFailures(\(2 * attempts)))"
                    return match
                }
            }
        ),
        Self(
            .hedgeInsideHedge,
            .doubtful,
            wrong: "[.hedge(after: .milliseconds(300)), .hedge(after: .milliseconds(300))]",
            right: "[.hedge(after: .milliseconds(300))]",
            harm: "Each of the two requests is sent a second time: a slow server gets four requests for one call.",
            matches: { oneIsEnough(pairs(.hedges, outside: .hedges)($0)) }
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
                "The limit counts a call once, however often it is sent: a limit of 100 lets 300 requests out.",
            matches: { chain in
                pairs(.limitsRate, outside: .retries)(chain)
                    + pairs(.limitsConcurrency, outside: .retries)(chain).map { match in
                        var match = match
                        match.harm = "A call holds its permit while its retry waits, so other calls wait too."
                        return match
                    }
            }
        ),
        Self(
            .limitOutsideHedge,
            .doubtful,
            wrong: "[.limitConcurrency(32), .hedge(after: .milliseconds(300))]",
            right: "[.hedge(after: .milliseconds(300)), .limitConcurrency(32)]",
            harm: "The second attempt isn't counted: a limit of 32 lets 64 requests out.",
            matches: pairs(.limits, outside: .hedges) { limit, _, _ in !limit.has(.breaksCircuit) }
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
            .limitOutsideCoalescing,
            .doubtful,
            wrong: "[.limitConcurrency(32), .coalesce()]",
            right: "[.coalesce(), .limitConcurrency(32)]",
            harm:
                "Each call that waits for the shared exchange takes a permit or a token, so other calls wait; a circuit counts"
                + " one failure for each.",
            matches: pairs(.limits, outside: .shares) { _, sharing, _ in !sharing.has(.stores) }
        ),
        Self(
            .permitHeldDuringRenewal,
            .doubtful,
            wrong: "[.limitConcurrency(32), .retryOnUnauthorized(tokens), .bearerAuth(tokens)]",
            right: "[.retryOnUnauthorized(tokens), .bearerAuth(tokens), .limitConcurrency(32)]",
            harm: "While a token is refreshed, the waiting calls hold all permits, so no other call is sent.",
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
            matches: { chain in
                pairs(.setsDeadline, outside: .setsDeadline)(chain).compactMap { neverActing($0, chain) }
            }
        ),
    ]

    /// Explains which of two timeouts can never end a call; `nil` if both can.
    private static func neverActing(_ match: Match, _ chain: LintedChain) -> Match? {
        let (outer, inner) = (match.elements[0], match.elements[1])
        guard let first = outer.placement, let second = inner.placement, first.knowsLimit, second.knowsLimit else {
            return nil
        }
        let isInnerInside = inner.parts.starts(with: outer.parts)
        var match = match
        guard let innerLimit = second.limit else {
            // Without a limit, an element enforces the deadlines of requests, and the outer one does so already.
            match.message = "\(inner.label) has no limit, and \(outer.label) already acts at the deadlines of requests."
            match.harm = "The inner element has no effect."
            match.remedy = "the chain without \(inner.label)"
            return isInnerInside ? match : nil
        }
        guard let outerLimit = first.limit else { return nil }
        if innerLimit >= outerLimit {
            match.message = "\(inner.label) never acts: \(innerLimit) isn't below the \(outerLimit) of \(outer.label)."
            match.remedy = "[\(code(innerLimit)), …, \(code(outerLimit))], the longer limit outside"
            if innerLimit == outerLimit { match.remedy = "the chain without \(inner.label)" }
            let isResent = chain.elements(between: outer, and: inner).contains { $0.has(.resends) }
            if !isResent { match.harm = "The inner limit has no effect: the outer one ends each call first." }
            return isInnerInside ? match : nil
        }
        // With nothing between them that takes time, the shorter one always ends the call.
        guard outer.parts.starts(with: inner.parts) else { return nil }
        let slow: [ChainRole] = [
            .resends, .waits, .limits, .shares, .supersedes, .mayAddCredentials, .awaitsRenewal, .signs,
            .changesResponse,
            .judges,
        ]
        let isQuick = chain.elements(between: outer, and: inner).allSatisfy { element in
            element.placement != nil && !slow.contains { element.has($0) }
        }
        match.message = "\(outer.label) never acts: \(inner.label) ends each call after \(innerLimit)."
        match.harm = "The outer limit of \(outerLimit) has no effect: nothing between the two takes time."
        match.remedy = "the chain without \(outer.label)"
        return isQuick ? match : nil
    }

    private static func code(_ limit: Duration) -> String { ".timeout(\(limit.code))" }
}

extension Duration {
    /// The duration as an array of interceptors contains it: `.seconds(30)`.
    package var code: String {
        let (seconds, attoseconds) = components
        return attoseconds == 0 ? ".seconds(\(seconds))" : ".seconds(\(self / .seconds(1)))"
    }
}
