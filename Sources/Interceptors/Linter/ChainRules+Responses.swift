extension ChainRuleDefinition {
    static let responses: [Self] = [
        Self(
            .statusJudgedTooEarly,
            .broken,
            wrong: "[.followRedirects(), .validateStatus()]",
            right: "[.validateStatus(), .followRedirects()]",
            harm: "A 302 or a 401 becomes an error before the outer element sees it: the redirect isn't followed, the"
                + " password isn't sent.",
            matches: { chain in
                pairs(.readsStatus, outside: .judges) { reading, judge, _ in
                    judge.rejects(any: reading.placement?.statuses(of: .readsStatus))
                }(chain).map(doubtingClosures)
            }
        ),
        Self(
            .statusJudgedInsideCache,
            .doubtful,
            wrong: "[.cache(.memory()), .validateStatus()]",
            right: "[.validateStatus(), .cache(.memory())]",
            harm: "A 404 that may be stored becomes an error, which no cache stores, so the server is asked each time.",
            matches: { chain in
                pairs(.stores, outside: .judges) { _, judge, _ in judge.rejects(any: [304, 404]) }(chain).map { match in
                    var match = match
                    // The plain form lets a 304 pass that the cache asked for.
                    if match.elements[1].rejectsExplicitly(304) {
                        match.harm =
                            "The server's 304 becomes an error, so each revalidation of a stored response fails."
                    }
                    return doubtingClosures(match)
                }
            }
        ),
        Self(
            .cookiesLostInError,
            .doubtful,
            wrong: "[.cookies(), .validateStatus()]",
            right: "[.validateStatus(), .cookies()]",
            harm: "The jar stores no cookie of a response that becomes an error, such as the new token of a 403.",
            matches: { chain in
                pairs(.keepsCookies, outside: .judges) { _, judge, _ in judge.rejects(any: [302, 401, 403]) }(chain)
                    .map(doubtingClosures)
            }
        ),
        Self(
            .contentChangedInsideCache,
            .doubtful,
            wrong: "[.cache(.memory()), .unwrapEnvelope(payload: \"data\", keepsEnvelope: true)]",
            right: "[.unwrapEnvelope(payload: \"data\", keepsEnvelope: true), .cache(.memory())]",
            harm: "The changed content is stored, and a hit is different from a first response: it has no"
                + " response.context.envelope.",
            matches: pairs(.stores, outside: .changesResponse)
        ),
        Self(
            .unwrappedTwice,
            .doubtful,
            wrong: "[.unwrapEnvelope(payload: \"data\"), .unwrapEnvelope(payload: \"data\")]",
            right: "[.unwrapEnvelope(payload: \"data\")]",
            harm:
                "The outer one gets the payload and finds no envelope: each call fails, or the outer one does nothing.",
            matches: { oneIsEnough(pairs(.unwraps, outside: .unwraps)($0)) }
        ),
        Self(
            .cacheInsideCache,
            .doubtful,
            wrong: "[.cache(.memory()), .cache(.disk(at: caches))]",
            right: "[.cache(.disk(at: caches))]",
            harm: "After the inner cache was cleared, at a sign-out for instance, the outer one still answers.",
            matches: { chain in
                pairs(.stores, outside: .stores)(chain).map { match in
                    var match = match
                    match.remedy = "only one of them: [\(match.elements[1].code)]"
                    return match
                }
            }
        ),
        Self(
            .cacheOutsideRedirects,
            .doubtful,
            wrong: "[.cache(.memory()), .followRedirects()]",
            right: "[.followRedirects(), .cache(.memory())]",
            harm:
                "A response that a redirect led to isn't stored under any URL: each call asks both servers again, and gets"
                + " nothing while they can't be reached.",
            matches: pairs(.stores, outside: .followsRedirects)
        ),
    ]

    static let logs: [Self] = [
        Self(
            .secretInLog,
            .broken,
            wrong: "[MyAuth(), .logging(.headers)], where MyAuth has the placement [.addsCredentials(in: \"X-Door\")]",
            right: "[MyAuth(), .logging(.headers, redaction: .standard.adding(names: [\"X-Door\"]))]",
            harm:
                "The log shows the field's value, because its name doesn't look secret: each reader of the log can act as the"
                + " user.",
            matches: { chain in
                pairs(.addsCredentials, outside: .logs)(chain).flatMap { match in
                    let (credential, log) = (match.elements[0], match.elements[1])
                    guard let redaction = log.placement?.redaction else { return [Match]() }
                    let names = (credential.placement?.secretFields ?? []).filter { !redaction.isSensitive($0.rawName) }
                    return names.map { name in
                        var match = match
                        match.message =
                            "\(log.label) shows the field \(name.rawName), in which \(credential.label) adds a credential."
                        match.culprit = credential
                        match.remedy = ".\(log.name)(redaction: .standard.adding(names: [\"\(name.rawName)\"]))"
                        return match
                    }
                }
            }
        ),
        Self(
            .loggedTwice,
            .note,
            wrong: "[.logging(), .logging()]",
            right: "[.logging(), .retry(3), .logging()]",
            harm: "Each exchange is logged twice.",
            matches: { chain in
                pairs(.logs, outside: .logs) { outer, inner, chain in
                    chain.elements(between: outer, and: inner).allSatisfy { $0.has(.logs) || $0.has(.measures) }
                }(chain).map { match in
                    var match = match
                    match.message = "\(match.elements.map(\.label).joined(separator: " and ")) see the same exchanges."
                    if match.doubt != .none {
                        match.message?.removeLast()
                        match.message? += ", if a request meets the conditions of both."
                    }
                    match.remedy = "only one of them, or move one to the other end of the chain"
                    return match
                }
            }
        ),
        Self(
            .attemptsNotLogged,
            .note,
            wrong: "[.logging(), .retry(3)]",
            right: "[.retry(3), .logging()]",
            harm:
                "A call that succeeds at the third attempt looks slow: the log shows one exchange, not the two failures.",
            matches: { chain in
                pairs(.logs, outside: .resends) { _, resending, chain in
                    chain.elements(inside: resending, with: .logs).isEmpty
                }(chain)
            }
        ),
    ]

    static let settings: [Self] = [
        Self(
            .redirectsNotFollowed,
            .note,
            wrong: "[.retry(3)]",
            right: "[.followRedirects(), .retry(3)]",
            harm: "When the server moves a resource, calls get its 301 instead of the resource.",
            matches: { chain in
                chain.elements.contains { $0.has(.followsRedirects) }
                    ? [] : [Match(message: "Nothing follows redirects.", remedy: "[.followRedirects(), …]")]
            }
        ),
        Self(
            .noEffect,
            .doubtful,
            wrong: "[.limitConcurrency()]",
            right: "[.limitConcurrency(32, perHost: 6)]",
            harm: "A thousand calls at once open a thousand exchanges, although the chain seems to limit them.",
            matches: { chain in
                chain.elements.compactMap { element in
                    element.placement?.idleness.map { idleness in
                        Match(
                            elements: [element],
                            message: "\(element.label) \(idleness.reason).",
                            remedy: idleness.remedy
                        )
                    }
                }
            }
        ),
        Self(
            .placement,
            .doubtful,
            wrong: "[.sign(signer), MyFields()], where MyFields has the placement [.outside(.signs)]",
            right: "[MyFields(), .sign(signer)]",
            harm: "The interceptor's author says where it belongs, and the finding repeats the author's reason.",
            matches: { chain in chain.elements.flatMap { unfulfilledWishes(of: $0, in: chain) } }
        ),
        Self(
            .needlessAcknowledgement,
            .note,
            wrong: "[.followRedirects(), .cookies().acknowledged(.cookiesOutsideRedirects, \"no log-in redirects\")]",
            right: "[.followRedirects(), .cookies()]",
            harm: "The reason explains nothing, and hides the finding when the order becomes wrong.",
            matches: needlessAcknowledgements
        ),
    ]

    /// The linter doesn't call a closure that judges, and it may accept the statuses.
    private static func doubtingClosures(_ match: Match) -> Match {
        var match = match
        if match.elements[1].has(.judgesByClosure) { match.doubt = .some }
        return match
    }

    @Sendable private static func needlessAcknowledgements(_ chain: LintedChain) -> [Match] {
        guard !chain.acknowledgements.isEmpty else { return [] }
        let others = all.filter { $0.rule != .needlessAcknowledgement }
        let used = Set(
            others.flatMap { definition in
                definition.matches(chain).compactMap { $0.acknowledgement(of: definition.rule) }
            }
        )
        return chain.acknowledgements.filter { !used.contains($0) }.map { acknowledgement in
            let element = chain.elements.dropFirst(acknowledgement.element - 1).first
            return Match(
                elements: element.map { [$0] } ?? [],
                message:
                    "\(element?.label ?? "An empty part") acknowledges \(acknowledgement.rule), which it doesn't break.",
                remedy: "it without .acknowledged(.\(acknowledgement.rule), …)"
            )
        }
    }

    private static func unfulfilledWishes(of element: LintedChain.Element, in chain: LintedChain) -> [Match] {
        (element.placement?.wishes ?? []).flatMap { wish in
            let role = wish.role
            let others =
                wish.isInside
                ? chain.elements(inside: element, with: role) : chain.elements(outside: element, with: role)
            return others.map { other in
                let elements = wish.isInside ? [element, other] : [other, element]
                return Match(
                    elements: elements,
                    harm: wish.reason
                        ?? "\(element.name) belongs \(wish.isInside ? "inside" : "outside") interceptors with the role"
                        + " \(wish.role.name).",
                    doubt: chain.doubt(about: elements[0], elements[1])
                )
            }
        }
    }
}

extension LintedChain.Element {
    /// Whether the element turns a response with one of these statuses into an error; `nil` stands for any status.
    fileprivate func rejects(any statuses: Set<Int>?) -> Bool {
        guard let statuses, let rejected = placement?.statuses(of: .judges) else { return true }
        return !rejected.isDisjoint(with: statuses)
    }

    fileprivate func rejectsExplicitly(_ status: Int) -> Bool {
        placement?.statuses(of: .judges)?.contains(status) ?? false
    }
}
