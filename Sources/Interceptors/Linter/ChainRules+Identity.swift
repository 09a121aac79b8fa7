extension ChainRuleDefinition {
    static let identity: [Self] = [
        Self(
            .credentialOutsideRenewal,
            .broken,
            wrong: "[.bearerAuth(tokens), .retryOnUnauthorized(tokens)]",
            right: "[.retryOnUnauthorized(tokens), .bearerAuth(tokens)]",
            harm:
                "Each call fails with an AuthenticationError: only the rest of the chain would run again, and nothing there"
                + " adds the new token.",
            matches: { chain in
                pairs(.addsCredentials, outside: .renewsCredentials) { credential, renewal, chain in
                    renewsSurely(renewal, credential)
                        || renews(renewal, credential) && !isRenewedInside(renewal, chain)
                }(chain).map { match in
                    guard !renewsSurely(match.elements[1], match.elements[0]) else { return match }
                    var match = match
                    match.harm =
                        "When the credential expires, each call fails: only the rest of the chain runs again, with the old"
                        + " credential."
                    return match
                }
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
                        remedy: renewal.placement?.subject == nil
                            ? "[\(renewal.code), an interceptor that adds the renewed credential]"
                            : "[\(renewal.code), .bearerAuth(…)] with the same store",
                        doubt: doubt(about: renewal, chain)
                    )
                }
            }
        ),
        Self(
            .credentialNeverSent,
            .broken,
            wrong: "[.retryOnUnauthorized(tokens), .bearerAuth(\"token\"), .bearerAuth(tokens)]",
            right: "[.retryOnUnauthorized(tokens), .bearerAuth(tokens)]",
            harm:
                "The inner token is never sent, because each request has the outer one already: its renewal doesn't help.",
            matches: { chain in
                pairs(.addsCredentials, outside: .addsCredentials) { outer, inner, _ in
                    areForOneField(outer, inner) && areForOneOrigin(outer, inner)
                }(chain).map { match in
                    var match = match
                    match.message =
                        "\(match.elements[1].label) adds a token to requests that have that of \(match.elements[0].label)."
                    match.remedy = "only one of them, or name the origins of each"
                    if match.elements[0].placement?.isConstant != true {
                        match.doubt = .some
                        match.harm =
                            "The inner token is sent only while the outer one is missing, after a sign-out for instance."
                    }
                    return match
                } + hiddenByFields(chain)
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
                pairs(.shares, outside: .identifiesCaller) { sharing, credential, chain in
                    partition(of: credential, sharedBy: sharing, chain) == nil
                }(chain).map { unpartitioned($0, chain) } + foreignPartitions(chain)
            }
        ),
        Self(
            .credentialSentToOtherHost,
            .broken,
            wrong: "[.followRedirects(), .headers([\"X-API-Key\": key])]",
            right: "[.followRedirects(), .when(.origin(\"https://a.example\"), [.headers([\"X-API-Key\": key])])]",
            harm: "A redirect to another host carries the credential to it.",
            matches: { chain in
                let inside = pairs(.followsRedirects, outside: .addsFieldsEverywhere) { _, fields, _ in
                    fields.parts.allSatisfy { $0.origins == nil }
                }(chain).map { match in
                    var match = match
                    let (redirects, fields) = (match.elements[0], match.elements[1])
                    match.message =
                        "\(fields.label) adds a credential to each request, even if \(redirects.label) sends the request to"
                        + " another host."
                    match.remedy = ".bearerAuth(…), or .when(.origin(…), [\(fields.code)])"
                    // The part's condition may look at the host.
                    if fields.parts.count > redirects.parts.count { match.doubt = .some }
                    match.culprit = fields
                    return match
                }
                return inside + unremovedFields(chain)
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
            matches: { chain in
                pairs(.addsCredentials, outside: .followsRedirects) { credential, redirects, _ in
                    // Another rule reports fields that a redirect doesn't drop.
                    !credential.has(.keepsCookies) && unremovedFields(of: credential, redirects).isEmpty
                }(chain) + redirectsPastCredentials(chain)
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

    /// Whether two elements of this package add different tokens in `Authorization`, which keeps the first.
    private static func areForOneField(_ outer: LintedChain.Element, _ inner: LintedChain.Element) -> Bool {
        guard let first = outer.placement, let second = inner.placement else { return false }
        return first.subject != nil && second.subject != nil && first.subject != second.subject
            && first.secretFields.contains(.authorization) && second.secretFields.contains(.authorization)
    }

    /// Tokens of elements beside one that adds `Authorization` to all requests: outside, it comes first, and inside, a forced field
    /// replaces the token.
    private static func hiddenByFields(_ chain: LintedChain) -> [Match] {
        @Sendable func isHidden(_ token: LintedChain.Element, by fields: LintedChain.Element) -> Bool {
            token.placement?.secretFields.contains(.authorization) == true
                && (origins(of: fields) == nil || areForOneOrigin(fields, token))
        }
        let outside = pairs(.addsAuthorizationEverywhere, outside: .addsCredentials) { fields, token, _ in
            isHidden(token, by: fields)
        }
        let inside = pairs(.addsCredentials, outside: .forcesAuthorization) { token, fields, _ in
            isHidden(token, by: fields)
        }
        return (outside(chain) + inside(chain)).map { match in
            var match = match
            let isOutside = match.elements[0].has(.addsFieldsEverywhere)
            let (fields, token) = (match.elements[isOutside ? 0 : 1], match.elements[isOutside ? 1 : 0])
            match.message =
                "\(fields.label) sets the Authorization of each request, so \(token.label) never sends its credential."
            match.harm = "The fixed Authorization is sent even after a 401 and a refresh: nothing renews it."
            match.remedy = "[\(token.code)] without Authorization in \(fields.name)"
            return match
        }
    }

    /// The only origins whose requests get a credential; `nil` if they depend on the client.
    private static func origins(of element: LintedChain.Element) -> Set<Origin>? {
        let all = [element.placement?.origins] + element.parts.map(\.origins)
        return all.compactMap(\.self).reduce(nil) { all, origins in all?.intersection(origins) ?? origins }
    }

    /// Whether two credentials are surely for a common origin: that of the client, if they name none.
    private static func areForOneOrigin(_ outer: LintedChain.Element, _ inner: LintedChain.Element) -> Bool {
        switch (origins(of: outer), origins(of: inner)) {
        case (nil, nil): return true
        case (let first?, let second?): return !first.isDisjoint(with: second)
        default: return false
        }
    }

    /// Whether an element inside the renewal adds the credential that it renews.
    private static func isRenewedInside(_ renewal: LintedChain.Element, _ chain: LintedChain) -> Bool {
        let credentials = chain.elements(inside: renewal, with: .addsCredentials).filter {
            origins(of: $0)?.isEmpty != true
        }
        guard let renewed = renewal.placement?.subject else { return !credentials.isEmpty }
        if credentials.contains(where: { $0.placement?.subject == renewed }) { return true }
        // An author's credential may be the renewed one, unless another token is sent in its place.
        return credentials.contains { renews(renewal, $0) }
            && !(chain.elements(outside: renewal, with: .addsCredentials) + credentials).contains { credential in
                guard let placement = credential.placement, placement.subject != nil else { return false }
                return placement.secretFields.contains(.authorization) && areForOneOrigin(renewal, credential)
            }
    }

    /// A closure may add the credential. For a store's token, `bearerAuth` is the usual way.
    private static func doubt(about renewal: LintedChain.Element, _ chain: LintedChain) -> Doubt {
        let others = chain.elements(inside: renewal, with: .addsCredentials)
        let mayBeRenewed = others.contains { $0.placement?.subject == nil && renews(renewal, $0) }
        guard mayBeRenewed || chain.mayAddCredentials(inside: renewal) else { return .none }
        return renewal.placement?.subject == nil ? .strong : .some
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
        Self(
            .signatureOutsideSharing,
            .doubtful,
            wrong: "[.sign(signer), .cache(.memory())]",
            right: "[.partition(by: tokens), .cache(.memory()), .sign(signer)]",
            harm:
                "The signature is different each time, so the cache never finds a stored response; and it adds conditions"
                + " that aren't signed.",
            matches: { chain in
                let all =
                    pairs(.signs, outside: .stores)(chain)
                    + pairs(.changesEachTime, outside: .shares) { signature, sharing, _ in
                        !signature.has(.signs) || !sharing.has(.stores)
                    }(chain)
                return all.map { match in
                    var match = match
                    match.remedy =
                        "[.partition(by: …), \(match.elements[1].code), \(match.elements[0].code)], where the partition names"
                        + " the account"
                    return match
                }
            }
        ),
    ]
}
