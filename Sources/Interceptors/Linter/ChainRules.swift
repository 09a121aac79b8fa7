extension ChainRuleDefinition {
    /// Every rule that judges a chain, in the documentation's order.
    static let all = identity + signing + resending + limits + responses + settings

    private static let identity: [Self] = [
        Self(.credentialOutsideRenewal, .broken, .addsCredentials, outside: .renewsCredentials)
            .harm("Each call fails with an AuthenticationError, because nothing inside the renewal adds the new token.")
            .only { $0.isOfSameObject || $0.inner.renews($0.outer) && !$0.chain.renewsInside($0.inner) }
            .with { match in
                if match.isOfSameObject { return }
                match.harm = "When the credential expires, each call fails: the call is repeated with the old one."
            },
        Self(.renewalWithoutCredential, .broken, unrenewed)
            .harm("After a 401 no renewed credential is sent: the user of an expired token sees an error."),
        Self(.credentialNeverSent, .broken, .addsCredentials, outside: .addsCredentials)
            .harm("The inner token is never sent, because requests have the outer one: its renewal doesn't help.")
            .only { !$0.isOfSameObject && $0.elements.allSatisfy(\.isToken) && $0.outer.sharesOrigin(with: $0.inner) }
            .with { match in
                match.message = "\(match.inner) adds a token to requests that have the token of \(match.outer)."
                match.remedy = "only one of them, or name the origins of each"
                if match.outer.isConstant { return }
                match.doubt = .some
                match.harm = "The inner token is sent only while the outer one is missing, such as after a sign-out."
            }
            .and { chain in
                // Outside, a fixed field comes first; inside, only a forced one replaces the token.
                chain.pairs(.addsAuthorizationEverywhere, outside: .addsCredentials).only { hides($0.inner, &$0) }
                    + chain.pairs(.addsCredentials, outside: .forcesAuthorization).only { hides($0.outer, &$0) }
            },
        Self(.credentialInsideSharing, .broken, .shares, outside: .identifiesCaller)
            .harm("One user could get the response of another; each call fails with `sharedResponse` instead.")
            .only { !$0.chain.isPartitioned($0.inner, sharedBy: $0.outer) }
            .with(explainPartition)
            .and(foreignPartitions),
        Self(.credentialSentToOtherHost, .broken, .followsRedirects, outside: .addsFieldsEverywhere)
            .harm("A redirect to another host carries the credential to it.")
            .only { $0.inner.parts.allSatisfy { $0.origins == nil } }
            .with { match in
                let redirect = "even if \(match.outer) sends the request to another host"
                match.message = "\(match.inner) adds a credential to each request, \(redirect)."
                match.remedy = ".bearerAuth(…), or .when(.origin(…), [\(match.inner.code)])"
                // The part's condition may look at the host.
                if match.inner.parts.count > match.outer.parts.count { match.doubt = .some }
                match.culprit = match.inner
            }
            .and { $0.pairs(.addsCredentials, outside: .followsRedirects).only(if: keepsField) },
        Self(.cookiesOutsideRedirects, .broken, .keepsCookies, outside: .followsRedirects)
            .harm("A log-in that answers 302 with Set-Cookie fails: the next hop lacks the new session's cookie."),
        Self(.credentialOutsideRedirects, .doubtful, .addsCredentials, outside: .followsRedirects)
            .harm("A redirect to api.example.com drops the credential of www.example.com: the call ends with a 401.")
            // Another rule reports fields that a redirect keeps.
            .only { !$0.outer.has(.keepsCookies) && $0.outer.fieldsKept(by: $0.inner).isEmpty }
            .and(redirectsPastCredentials),
        Self(.rejectedTokenRetried, .doubtful, .renewsCredentials, outside: .retriesUnauthorized)
            .harm("An expired token is sent three times before it is renewed, which some servers count as an attack.")
            .with { match in
                match.message = "\(match.inner) repeats a 401 inside \(match.outer)."
                match.remedy = "\(match.inner.code) without the status 401"
            },
    ]

    private static let signing: [Self] = [
        Self(.contentChangedAfterSigning, .broken, .signs, outside: .compresses)
            .harm("The server refuses each compressed upload, because the signature covers the original content."),
        Self(.fieldsChangedAfterSigning, .doubtful, .signs, outside: .changesRequest)
            .harm("The signature doesn't cover the later fields: the server refuses them, or accepts changed ones.")
            .only { !$0.inner.has(.compresses) && !$0.inner.has(.signs) },
        Self(.resentWithOldSignature, .doubtful, .signs, outside: .resends)
            .harm("Each further attempt or hop carries the old signature: its date, URL or nonce is refused."),
        Self(.signatureOutsideSharing, .doubtful, .signs, outside: .stores)
            .harm("Each signature is different, so no stored response is found; the cache's conditions aren't signed.")
            .and { chain in
                let all = chain.pairs(.changesEachTime, outside: .shares)
                return all.filter { !$0.outer.has(.signs) || !$0.inner.has(.stores) }
            }
            .with { match in
                let order = "[.partition(by: …), \(match.inner.code), \(match.outer.code)]"
                match.remedy = "\(order), where the partition names the account"
            },
    ]

    private static let resending: [Self] = [
        Self(.retryInsideRetry, .doubtful, .retries, outside: .retries)
            .harm("The attempts multiply: with three each, a failing server gets nine requests for one call.")
            .with { match in
                match.remedy = "only one of them: [\(match.outer.code)]"
                guard let outer = match.outer.retriedStatuses, let inner = match.inner.retriedStatuses else { return }
                if outer.isDisjoint(with: inner) { match.doubt = .strong }
            },
        Self(.breakerOutsideRetry, .doubtful, .breaksCircuit, outside: .retries)
            .harm("A failing host gets three times as many requests: the attempts of a call count as one failure."),
        Self(.breakerOpenedByOneCall, .doubtful, .retries, outside: .breaksCircuit)
            .harm("One call whose attempts all fail opens the circuit: one bad path makes the host refuse all calls.")
            .only(if: opensByOneCall),
        Self(.hedgeInsideHedge, .doubtful, .hedges, outside: .hedges)
            .harm("Each of the two requests is sent a second time: a slow server gets four requests for one call.")
            .with { $0.remedy = "only one of them: [\($0.outer.code)]" },
        Self(.hedgeOutsideRetry, .doubtful, .hedges, outside: .retries)
            .harm("The wait of a retry looks like a late response: a server that fails at once gets six requests."),
    ]

    private static let limits: [Self] = [
        Self(.limitOutsideRetry, .doubtful, .limitsConcurrency, outside: .retries)
            .harm("The limit counts a call once, however often it is sent: a limit of 100 lets 300 requests out.")
            .with { $0.harm = "A call holds its permit while its retry waits, so other calls wait too." }
            .and { $0.pairs(.limitsRate, outside: .retries) },
        Self(.limitOutsideHedge, .doubtful, .limits, outside: .hedges)
            .harm("The second attempt isn't counted: a limit of 32 lets 64 requests out.")
            .only { !$0.outer.has(.breaksCircuit) },
        Self(.limitOutsideCache, .doubtful, .limits, outside: .stores)
            .harm("A stored response waits for a permit or a token that it doesn't need; an open circuit refuses it."),
        Self(.limitOutsideCoalescing, .doubtful, .limits, outside: .shares)
            .harm("Each call that shares an exchange takes a permit or a token; a circuit counts a failure for each.")
            .only { !$0.inner.has(.stores) },
        Self(.permitHeldDuringRenewal, .doubtful, .limitsConcurrency, outside: .renewsCredentials)
            .harm("While a token is refreshed, the waiting calls hold all permits, so no other call is sent.")
            .and { $0.pairs(.limitsConcurrency, outside: .awaitsRenewal) },
        Self(.timeoutNeverActs, .doubtful, .setsDeadline, outside: .setsDeadline)
            .harm("An attempt that hangs uses up the whole call's time, so it is never retried.")
            .only(if: neverActs),
    ]

    private static let responses: [Self] = [
        Self(.statusJudgedTooEarly, .broken, .readsStatus, outside: .judges)
            .harm("A 302 or a 401 becomes an error first: the redirect isn't followed, the password isn't sent.")
            .only { $0.inner.rejects(anyOf: $0.outer.readStatuses) }
            .with(doubtClosure),
        Self(.statusJudgedInsideCache, .doubtful, .stores, outside: .judges)
            .harm("A 404 that may be stored becomes an error, which no cache stores: the server is asked each time.")
            .only { $0.inner.rejects(anyOf: [304, 404]) }
            .with(doubtClosure)
            .with { match in
                // The plain form lets a 304 pass that the cache asked for.
                guard match.inner.rejectedStatuses?.contains(304) == true else { return }
                match.harm = "The server's 304 becomes an error, so each revalidation of a stored response fails."
            },
        Self(.cookiesLostInError, .doubtful, .keepsCookies, outside: .judges)
            .harm("The jar stores no cookie of a response that becomes an error, such as the new token of a 403.")
            .only { $0.inner.rejects(anyOf: [302, 401, 403]) }
            .with(doubtClosure),
        Self(.contentChangedInsideCache, .doubtful, .stores, outside: .changesResponse)
            .harm("The changed content is stored, and a hit, unlike a first response, has no context.envelope."),
        Self(.unwrappedTwice, .doubtful, .unwraps, outside: .unwraps)
            .harm("The outer one finds no envelope in the payload: each call fails, or the outer one does nothing.")
            .with { $0.remedy = "only one of them: [\($0.outer.code)]" },
        Self(.cacheInsideCache, .doubtful, .stores, outside: .stores)
            .harm("After the inner cache was cleared, at a sign-out for instance, the outer one still answers.")
            .with { $0.remedy = "only one of them: [\($0.inner.code)]" },
        Self(.cacheOutsideRedirects, .doubtful, .stores, outside: .followsRedirects)
            .harm("A response after a redirect isn't stored: each call asks both servers, and fails offline."),
    ]

    private static let settings: [Self] = [
        Self(.secretInLog, .broken) { $0.pairs(.addsCredentials, outside: .logs).flatMap(fieldsShown) }
            .harm("The log shows the field, because its name doesn't look secret: each reader can act as the user."),
        Self(.loggedTwice, .note, .logs, outside: .logs)
            .harm("Each exchange is logged twice.")
            .only { $0.between.allSatisfy { $0.has(.logs) || $0.has(.measures) } }
            .with { match in
                let doubt = match.doubt == .none ? "" : ", if a request meets the conditions of both"
                match.message = "\(match.outer) and \(match.inner) see the same exchanges\(doubt)."
                match.remedy = "only one of them, or move one to the other end of the chain"
            },
        Self(.attemptsNotLogged, .note, .logs, outside: .resends)
            .harm("A call that succeeds at the third attempt looks slow: the log doesn't show the two failures.")
            .only { $0.chain.elements(inside: $0.inner, with: .logs).isEmpty },
        Self(.redirectsNotFollowed, .note) { chain in
            if chain.elements.contains(where: { $0.has(.followsRedirects) }) { return [] }
            return [Match(chain: chain, message: "Nothing follows redirects.", remedy: "[.followRedirects(), …]")]
        }
        .harm("When the server moves a resource, calls get its 301 instead of the resource."),
        Self(.noEffect, .doubtful) { chain in
            chain.elements.compactMap { element in
                guard let (reason, remedy) = element.idleness else { return nil }
                return Match(chain: chain, elements: [element], message: "\(element) \(reason).", remedy: remedy)
            }
        }
        .harm("A thousand calls at once open a thousand exchanges, although the chain seems to limit them."),
        Self(.placement, .doubtful, unfulfilledWishes)
            .harm("The interceptor's author says where it belongs, and the finding repeats the author's reason."),
        Self(.needlessAcknowledgement, .note, needlessAcknowledgements)
            .harm("The reason explains nothing, and hides the finding when the order becomes wrong."),
    ]
}
