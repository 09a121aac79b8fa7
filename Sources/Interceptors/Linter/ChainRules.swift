#if DEBUG
extension ChainRuleDefinition {
    /// Every rule that checks a chain, in the documentation's order, from the rows of the table.
    static let all: [Self] = table.split(separator: "\n").reduce(into: []) { rules, line in
        let words = line.split(separator: " ", maxSplits: 2).map(String.init)
        let severity = ChainFinding.Severity(rawValue: words[0])
        if let severity { rules.append(Self(rule: ChainRule(rawValue: words[1]), severity: severity)) }
        rules[rules.count - 1].read(severity == nil ? String(line) : words[2])
    }

    /// The rules. A rule begins with its severity and its name; then come its faults, each with its texts.
    ///
    /// | line | text |
    /// | --- | --- |
    /// | `order` | the roles that an outer and an inner element in the wrong order have or don't have (`-`), and a condition |
    /// | `apart` | the same for two elements that never meet |
    /// | `alone` | the same for one element |
    /// | `missing` | the roles that no element has |
    /// | `harm` | an example of what goes wrong |
    /// | `says` | the fault; by default that the first element is outside the second |
    /// | `write` | the remedy; by default the opposite order |
    ///
    /// A fault has the texts of the fault before, as far as the lines don't replace them. In texts, `#1` is the first element,
    /// `@1` is its name, `<1>` is its code, and `*` is a detail that the condition found. Only the element with the
    /// mark `!` may acknowledge the fault: one acknowledged credential excuses no other.
    private static let table = """
        broken credentialOutsideRenewal order addsCredentials > renewsCredentials if isOfSameObject
        harm Each call fails with an AuthenticationError, because nothing inside the renewal adds the new token.
        order addsCredentials > renewsCredentials if isRenewedOutside
        harm When the credential expires, each call fails: the call is repeated with the old one.

        broken renewalWithoutCredential alone renewsCredentials if isUnrenewed
        harm After a 401 no renewed credential is sent: the user of an expired token sees an error.
        says Nothing inside #1 adds the credential that it renews.
        write [<1>, an interceptor that adds the renewed credential]

        broken credentialNeverSent order addsCredentials > addsCredentials if isOtherToken
        harm The inner token is never sent, because requests have the outer one: its renewal doesn't help.
        says #2 adds a token to requests that have the token of #1.
        write only one of them, or name the origins of each
        order addsAuthorizationEverywhere > addsCredentials if hidesInner
        harm The fixed Authorization is sent even after a 401 and a refresh: nothing renews it.
        says #1 sets the Authorization of each request, so #2 never sends its credential.
        write [<2>] without Authorization in @1
        order addsCredentials > forcesAuthorization if hidesOuter
        says #2 sets the Authorization of each request, so #1 never sends its credential.
        write [<1>] without Authorization in @2

        broken credentialInsideSharing order shares > identifiesCaller changesEachTime ! if isUnpartitioned
        harm One user could get the response of another; each call fails with `sharedResponse` instead.
        write [.partition(by: …), <1>, <2>], or name the account (context.cachePartition) and acknowledge the rule
        order shares > identifiesCaller -changesEachTime ! if isUnpartitioned
        write [<2>, <1>], or [.partition(by: …), <1>, <2>], or name the account and acknowledge the rule
        order shares > awaitsRenewal ! if hasForeignPartition
        harm One user gets the response of another: the requests of both have one partition.
        says #1 names the account of another store than #3.
        write .when(.origin(…), [.partition(by: …)]) for each store
        order awaitsRenewal ! > shares if hasForeignPartition

        broken credentialSentToOtherHost order followsRedirects > addsFieldsEverywhere ! if isForAnyHost
        harm A redirect to another host carries the credential to it.
        says #2 adds a credential to each request, even if #1 sends the request to another host.
        write .bearerAuth(…), or .when(.origin(…), [<2>])
        order addsCredentials ! > followsRedirects if keepsField
        says #2 sends the field * of #1 to other hosts.
        write [<2>, <1>], where @1 adds the field for its own hosts only

        broken cookiesOutsideRedirects order keepsCookies > followsRedirects
        harm A log-in that answers 302 with Set-Cookie fails: the next hop lacks the new session's cookie.

        doubtful credentialOutsideRedirects order addsCredentials -keepsCookies > followsRedirects if dropsField
        harm A redirect to api.example.com drops the credential of www.example.com: the call ends with a 401.
        apart addsCredentials -keepsCookies > followsRedirects

        doubtful rejectedTokenRetried order renewsCredentials > retriesUnauthorized
        harm An expired token is sent three times before it is renewed, which some servers count as an attack.
        says #2 repeats a 401 inside #1.
        write <2> without the status 401

        broken contentChangedAfterSigning order signs > compresses
        harm The server refuses each compressed upload, because the signature covers the original content.

        doubtful fieldsChangedAfterSigning order signs > changesRequest -compresses -signs
        harm The signature doesn't cover the later fields: the server refuses them, or accepts changed ones.

        doubtful resentWithOldSignature order signs > resends
        harm Each further attempt or hop carries the old signature: its date, URL or nonce is refused.

        doubtful signatureOutsideSharing order signs > stores
        harm Each signature is different, so no stored response is found; the cache's conditions aren't signed.
        write [.partition(by: …), <2>, <1>], where the partition names the account
        order changesEachTime > shares -stores
        order changesEachTime -signs > stores

        doubtful retryInsideRetry order retries > retries if isForSameOutcome
        harm The attempts multiply: with three each, a failing server gets nine requests for one call.
        write only one of them: [<1>]

        doubtful breakerOutsideRetry order breaksCircuit > retries
        harm A failing host gets three times as many requests: the attempts of a call count as one failure.

        doubtful breakerOpenedByOneCall order retries > breaksCircuit if opensByOneCall
        harm One call whose attempts all fail opens the circuit: one bad path makes the host refuse all calls.

        doubtful hedgeInsideHedge order hedges > hedges
        harm Each of the two requests is sent a second time: a slow server gets four requests for one call.
        write only one of them: [<1>]

        doubtful hedgeOutsideRetry order hedges > retries
        harm The wait of a retry looks like a late response: a server that fails at once gets six requests.

        doubtful limitOutsideRetry order limitsRate > retries
        harm The limit counts a call once, however often it is sent: a limit of 100 lets 300 requests out.
        order limitsConcurrency > retries
        harm A call holds its permit while its retry waits, so other calls wait too.

        doubtful limitOutsideHedge order limits -breaksCircuit > hedges
        harm The second attempt isn't counted: a limit of 32 lets 64 requests out.

        doubtful limitOutsideCache order limits > stores
        harm A stored response waits for a permit or a token that it doesn't need; an open circuit refuses it.

        doubtful limitOutsideCoalescing order limits > shares -stores
        harm Each call that shares an exchange takes a permit or a token; a circuit counts a failure for each.

        doubtful permitHeldDuringRenewal order limitsConcurrency > renewsCredentials
        harm While a token is refreshed, the waiting calls hold all permits, so no other call is sent.
        order limitsConcurrency > awaitsRenewal

        doubtful timeoutNeverActs order setsDeadline > setsDeadline if innerNeverActs
        harm An attempt that hangs uses up the whole call's time, so it is never retried.
        says #2 never acts, because its limit isn't below that of #1.
        write [<2>, …, <1>], the longer limit outside

        broken statusJudgedTooEarly order readsStatus > validates if rejectsRead
        harm A 302 or a 401 becomes an error first: the redirect isn't followed, the password isn't sent.

        doubtful statusJudgedInsideCache order stores > validates if rejectsStored
        harm A 404 that may be stored becomes an error, which no cache stores: the server is asked each time.
        order stores > validates if rejectsRevalidation
        harm The server's 304 becomes an error, so each revalidation of a stored response fails.

        doubtful cookiesLostInError order keepsCookies > validates if rejectsCookies
        harm The jar stores no cookie of a response that becomes an error, such as the new token of a 403.

        doubtful contentChangedInsideCache order stores > changesResponse
        harm The changed content is stored, and a hit, unlike a first response, has no context.envelope.

        doubtful unwrappedTwice order unwraps > unwraps
        harm The outer one finds no envelope in the payload: each call fails, or the outer one does nothing.
        write only one of them: [<1>]

        doubtful cacheInsideCache order stores > stores
        harm After the inner cache was cleared, at a sign-out for instance, the outer one still answers.
        write only one of them: [<2>]

        doubtful cacheOutsideRedirects order stores > followsRedirects
        harm A response after a redirect isn't stored: each call asks both servers, and fails offline.

        broken secretInLog order addsCredentials ! > logs if showsField
        harm The log shows the field, because its name doesn't look secret: each reader can act as the user.
        says #2 shows the field *, in which #1 adds a credential.

        note loggedTwice order logs > logs if isNextLog
        harm Each exchange is logged twice.
        says #1 and #2 see the same exchanges*.
        write only one of them, or move one to the other end of the chain

        note attemptsNotLogged order logs > resends if isUnlogged
        harm A call that succeeds at the third attempt looks slow: the log doesn't show the two failures.

        note redirectsNotFollowed missing followsRedirects
        harm When the server moves a resource, calls get its 301 instead of the resource.
        says Nothing follows redirects.
        write [.followRedirects(), …]

        doubtful noEffect alone setting if isIdle
        harm A thousand calls at once open a thousand exchanges, although the chain seems to limit them.
        says #1 *.

        doubtful placement order > if isAgainstWish
        harm The interceptor's author says where it belongs, and the finding repeats the author's reason.
        """
}
#endif
