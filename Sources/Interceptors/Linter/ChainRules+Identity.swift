extension ChainRuleDefinition {
    static let identity: [Self] = [
        Self(
            .credentialOutsideRenewal,
            .broken,
            wrong: "[.bearerAuth(tokens), .retryOnUnauthorized(tokens)]",
            right: "[.retryOnUnauthorized(tokens), .bearerAuth(tokens)]",
            harm:
                "When the token expires, each call fails: only the rest of the chain runs again, and nothing there adds the"
                + " new token.",
            matches: pairs(.addsCredentials, outside: .renewsCredentials) { credential, renewal, chain in
                renewsSurely(renewal, credential)
                    || renews(renewal, credential) && !isRenewedInside(renewal, chain)
            }
        ),
        Self(
            .renewalWithoutCredential,
            .broken,
            wrong: "[.retryOnUnauthorized(tokens), .bearerAuth(otherTokens)]",
            right: "[.retryOnUnauthorized(tokens), .bearerAuth(tokens)]",
            harm:
                "After a 401 the call isn't sent again with a renewed credential: the user of an expired token sees an error.",
            matches: { chain in
                chain.elements.filter { $0.has(.renewsCredentials) && !isRenewedInside($0, chain) }.compactMap {
                    renewal in
                    // The other rule explains the order.
                    let outer = chain.elements(outside: renewal, with: .addsCredentials)
                    if outer.contains(where: { renews(renewal, $0) }) { return nil }
                    let others = chain.elements(inside: renewal, with: .identifiesCaller)
                    let message =
                        others.first.map { "\($0.label) adds another credential than \(renewal.label) renews." }
                        ?? "Nothing inside \(renewal.label) adds the credential that it renews."
                    return Match(
                        elements: [renewal],
                        message: message,
                        remedy: "[\(renewal.code), .bearerAuth(…)] with the same store",
                        // A closure may add the credential.
                        doubt: chain.mayAddCredentials(inside: renewal) ? .unjudged : .none
                    )
                }
            }
        ),
        Self(
            .credentialInsideSharing,
            .broken,
            wrong: "[.cache(.memory()), .bearerAuth(tokens)]",
            right: "[.bearerAuth(tokens), .cache(.memory())]",
            harm:
                "Without a partition, one user could get the response of another; each call fails with a ChainOrderError"
                + " instead.",
            matches: { chain in
                pairs(.shares, outside: .identifiesCaller) { sharing, _, chain in
                    chain.elements(outside: sharing, with: .namesPartition).isEmpty
                }(chain).map { match in
                    var match = match
                    // A closure may name the partition.
                    if chain.isUnjudged(outside: match.elements[0]) { match.doubt = .unjudged }
                    match.remedy =
                        "[\(match.elements[1].code), \(match.elements[0].code)], or name the account:"
                        + " request.context.cachePartition = account.id"
                    return match
                }
            }
        ),
        Self(
            .cookiesOutsideRedirects,
            .broken,
            wrong: "[.cookies(), .followRedirects()]",
            right: "[.followRedirects(), .cookies()]",
            harm:
                "A log-in that answers 302 with Set-Cookie fails: the next hop goes out without the new session's cookie.",
            matches: pairs(.keepsCookies, outside: .followsRedirects)
        ),
        Self(
            .credentialOutsideRedirects,
            .doubtful,
            wrong: "[.bearerAuth(tokens), .followRedirects()]",
            right: "[.followRedirects(), .bearerAuth(tokens)]",
            harm:
                "A redirect from www.example.com to api.example.com drops the credential of the first host, and nothing adds"
                + " the one of the second: the call ends with a 401.",
            matches: pairs(.addsCredentials, outside: .followsRedirects) { credential, _, _ in
                !credential.has(.keepsCookies)
            }
        ),
        Self(
            .rejectedTokenRetried,
            .doubtful,
            wrong: "[.retryOnUnauthorized(tokens), .bearerAuth(tokens), .retry(3, when: .status(401))]",
            right: "[.retryOnUnauthorized(tokens), .bearerAuth(tokens), .retry(3)]",
            harm: "An expired token is sent three times before it is renewed, which some servers count as an attack.",
            matches: { chain in
                pairs(.renewsCredentials, outside: .retriesUnauthorized)(chain).map { match in
                    var match = match
                    match.message = "\(match.elements[1].label) repeats a 401 inside \(match.elements[0].label)."
                    match.remedy = "\(match.elements[1].code) without the status 401"
                    return match
                }
            }
        ),
    ]

    /// Whether an element inside the renewal adds the credential that it renews.
    private static func isRenewedInside(_ renewal: LintedChain.Element, _ chain: LintedChain) -> Bool {
        chain.elements(inside: renewal, with: .identifiesCaller).contains { renews(renewal, $0) }
    }

    /// Whether an element renews the credential of another, because both name the same object. Another element inside that adds
    /// the credential doesn't help: the renewal refuses such a request.
    private static func renewsSurely(_ renewal: LintedChain.Element, _ credential: LintedChain.Element) -> Bool {
        guard let renewed = renewal.placement?.subject else { return false }
        return credential.placement?.subject == renewed
    }

    /// Whether an element renews the credential of another, as far as both say what it comes from.
    private static func renews(_ renewal: LintedChain.Element, _ credential: LintedChain.Element) -> Bool {
        guard let renewed = renewal.placement?.subject else { return true }
        guard let subject = credential.placement?.subject else { return !credential.has(.answersChallenges) }
        return subject == renewed
    }
}

extension ChainRuleDefinition {
    static let signing: [Self] = [
        Self(
            .contentChangedAfterSigning,
            .broken,
            wrong: "[.sign(signer), .compressRequest()]",
            right: "[.compressRequest(), .sign(signer)]",
            harm:
                "The server refuses each compressed upload: the signature covers the content before it was compressed.",
            matches: pairs(.signs, outside: .compresses)
        ),
        Self(
            .fieldsChangedAfterSigning,
            .doubtful,
            wrong: "[.sign(signer), .headers([.accept: \"application/json\"])]",
            right: "[.headers([.accept: \"application/json\"]), .sign(signer)]",
            harm:
                "The signature doesn't cover the later fields: a server that requires them to be signed refuses the request,"
                + " and one that doesn't accepts changed ones.",
            matches: pairs(.signs, outside: .changesRequest) { _, change, _ in
                !change.has(.compresses) && !change.has(.signs)
            }
        ),
        Self(
            .resentWithOldSignature,
            .doubtful,
            wrong: "[.sign(signer), .retry(3)]",
            right: "[.retry(3), .sign(signer)]",
            harm:
                "Each further attempt or hop carries the signature of the first: with an old date, an old URL, or a nonce that"
                + " the server has seen, it is refused.",
            matches: pairs(.signs, outside: .resends)
        ),
    ]
}
