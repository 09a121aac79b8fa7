/// Faults that two roles in the wrong order don't say.
extension ChainRuleDefinition {
    /// Renewals inside which no element adds the credential.
    @Sendable static func unrenewed(_ chain: LintedChain) -> [Match] {
        chain.elements.filter { $0.has(.renewsCredentials) && !chain.renewsInside($0) }.compactMap { renewal in
            // The other rule explains the order.
            if chain.elements(outside: renewal, with: .addsCredentials).contains(where: renewal.renews) { return nil }
            let isOfStore = renewal.subject != nil
            let other = chain.elements(inside: renewal, with: .identifiesCaller).first
            let mayBeRenewed = chain.elements[renewal.number...].contains { element in
                // Elements that aren't judged and closures may add the credential.
                element.placement == nil || element.has(.mayAddCredentials)
                    || element.has(.addsCredentials) && chain.meet(renewal, element)
                        && element.subject == nil && renewal.renews(element)
            }
            return Match(
                chain: chain,
                elements: [renewal],
                message: other.map { "\($0) adds another credential than \(renewal) renews." }
                    ?? "Nothing inside \(renewal) adds the credential that it renews.",
                remedy: isOfStore
                    ? "[\(renewal.code), .bearerAuth(…)] with the same store"
                    : "[\(renewal.code), an interceptor that adds the renewed credential]",
                // For a store's token, `bearerAuth` is the usual way.
                doubt: mayBeRenewed ? isOfStore ? .some : .strong : .none
            )
        }
    }

    /// Whether an element with a fixed `Authorization` surely hides a token: both are for the same requests.
    static func hides(_ token: LintedChain.Element, _ match: inout Match) -> Bool {
        let fields = token.number == match.outer.number ? match.inner : match.outer
        match.message = "\(fields) sets the Authorization of each request, so \(token) never sends its credential."
        match.harm = "The fixed Authorization is sent even after a 401 and a refresh: nothing renews it."
        match.remedy = "[\(token.code)] without Authorization in \(fields.name)"
        return token.secretFields.contains(.authorization)
            && (fields.requestOrigins == nil || fields.sharesOrigin(with: token))
    }

    /// Adds the remedy to a credential in a shared response that has no partition.
    @Sendable static func explainPartition(_ match: inout Match) {
        let (sharing, credential) = (match.outer, match.inner)
        match.culprit = credential
        // An element that isn't judged may name the partition.
        let outer = match.chain.elements[..<(sharing.number - 1)]
        if outer.contains(where: { $0.placement == nil }) { match.doubt = .some }
        let partition =
            "[.partition(by: …), \(sharing.code), \(credential.code)], or name the account"
            + " (request.context.cachePartition = account.id) and acknowledge the rule"
        let order = credential.has(.changesEachTime) ? "" : "[\(credential.code), \(sharing.code)], or "
        match.remedy = order + partition
    }

    /// Credentials of a store in shared responses whose partition names the account of another store.
    @Sendable static func foreignPartitions(_ chain: LintedChain) -> [Match] {
        chain.elements.filter { $0.has(.shares) }.flatMap { sharing in
            chain.elements.compactMap { credential in
                guard credential.has(.awaitsRenewal), chain.meet(sharing, credential) else { return nil }
                for partition in chain.elements(outside: sharing, with: .namesPartition)
                where chain.meet(partition, credential) {
                    let isSure = partition.namesPartition(of: credential, sharedBy: sharing)
                    let isForeign = partition.subject != nil && !partition.isOfSameObject(as: credential)
                    // A condition that isn't an origin may hold for requests with the credential.
                    if isForeign, isSure || partition.parts.contains(where: { $0.origins == nil }) {
                        return Match(
                            chain: chain,
                            elements: [partition, sharing, credential],
                            message: "\(partition) names the account of another store than \(credential).",
                            harm: "One user gets the response of another: the requests of both have one partition.",
                            remedy: ".when(.origin(…), [.partition(by: …)]) for each store",
                            doubt: isSure ? .none : .some,
                            culprit: credential
                        )
                    }
                    if isSure { return nil }
                }
                return nil
            }
        }
    }

    /// Whether a redirect to another host keeps a field of a credential.
    @Sendable static func keepsField(_ match: inout Match) -> Bool {
        let (credential, redirects) = (match.outer, match.inner)
        guard let name = credential.fieldsKept(by: redirects).first else { return false }
        match.message = "\(redirects) sends the field \(name.rawName) of \(credential) to other hosts."
        let order = "[\(redirects.code), \(credential.code)]"
        match.remedy = "\(order), where \(credential.name) adds the field for its own hosts only"
        match.culprit = credential
        return true
    }

    /// Credentials in a part for other origins than that of an element that follows redirects: a redirect to the credential's
    /// origin begins inside the credential.
    @Sendable static func redirectsPastCredentials(_ chain: LintedChain) -> [Match] {
        chain.elements.filter { $0.has(.addsCredentials) && !$0.has(.keepsCookies) }.flatMap { credential in
            chain.elements[credential.number...].filter {
                $0.has(.followsRedirects) && !chain.meet(credential, $0)
            }.map { chain.match(credential, $0) }
        }
    }

    /// Whether the attempts of one call open a circuit.
    @Sendable static func opensByOneCall(_ match: inout Match) -> Bool {
        guard let attempts = match.outer.attempts, let failures = match.inner.failures else { return false }
        match.message = "\(match.inner) opens after \(failures) failures, and \(match.outer) may add \(attempts)."
        match.remedy = ".circuitBreaker(.consecutiveFailures(\(2 * attempts)))"
        return failures <= attempts
    }

    /// Whether one of two timeouts can never end a call; explains which.
    @Sendable static func neverActs(_ match: inout Match) -> Bool {
        let (outer, inner) = (match.outer, match.inner)
        guard let first = outer.limit, let second = inner.limit else { return false }
        let isInnerInside = inner.parts.starts(with: outer.parts)
        match.remedy = "the chain without \(inner)"
        guard let innerLimit = second else {
            // Without a limit, an element enforces the deadlines of requests, and the outer one does so already.
            match.message = "\(inner) has no limit, and \(outer) already acts at the deadlines of requests."
            match.harm = "The inner element has no effect."
            return isInnerInside
        }
        guard let outerLimit = first else { return false }
        if innerLimit >= outerLimit {
            match.message = "\(inner) never acts: \(innerLimit) isn't below the \(outerLimit) of \(outer)."
            let order = "[.timeout(\(innerLimit.code)), …, .timeout(\(outerLimit.code))]"
            if innerLimit > outerLimit { match.remedy = "\(order), the longer limit outside" }
            let isResent = match.between.contains { $0.has(.resends) }
            if !isResent { match.harm = "The inner limit has no effect: the outer one ends each call first." }
            return isInnerInside
        }
        // With nothing between them that takes time, the shorter one always ends the call.
        let slow: [ChainRole] = [
            .resends, .waits, .limits, .shares, .supersedes, .mayAddCredentials, .awaitsRenewal, .signs,
            .changesResponse, .judges,
        ]
        match.message = "\(outer) never acts: \(inner) ends each call after \(innerLimit)."
        match.harm = "The outer limit of \(outerLimit) has no effect: nothing between the two takes time."
        match.remedy = "the chain without \(outer)"
        return outer.parts.starts(with: inner.parts)
            && match.between.allSatisfy { $0.placement != nil && !slow.contains(where: $0.has) }
    }

    /// The linter doesn't call a closure that judges, and it may accept the statuses.
    @Sendable static func doubtClosure(_ match: inout Match) {
        if match.inner.has(.judgesByClosure) { match.doubt = .some }
    }

    /// The fields of a credential that a log doesn't hide.
    static func fieldsShown(_ match: Match) -> [Match] {
        let (credential, log) = (match.outer, match.inner)
        guard let redaction = log.redaction else { return [] }
        return credential.secretFields.filter { !redaction.isSensitive($0.rawName) }.map { name in
            var match = match
            match.message = "\(log) shows the field \(name.rawName), in which \(credential) adds a credential."
            match.culprit = credential
            match.remedy = ".\(log.name)(redaction: .standard.adding(names: [\"\(name.rawName)\"]))"
            return match
        }
    }

    @Sendable static func unfulfilledWishes(_ chain: LintedChain) -> [Match] {
        chain.elements.flatMap { element in
            element.wishes.flatMap { isInside, role, reason in
                let side = isInside ? "inside" : "outside"
                let harm = reason ?? "\(element.name) belongs \(side) interceptors with the role \(role)."
                return isInside
                    ? chain.elements(inside: element, with: role).map { chain.match(element, $0, harm: harm) }
                    : chain.elements(outside: element, with: role).map { chain.match($0, element, harm: harm) }
            }
        }
    }

    @Sendable static func needlessAcknowledgements(_ chain: LintedChain) -> [Match] {
        guard !chain.acknowledgements.isEmpty else { return [] }
        let used = all.filter { $0.rule != .needlessAcknowledgement }.flatMap { definition in
            definition.matches(chain).compactMap { $0.acknowledgement(of: definition.rule) }
        }
        return chain.acknowledgements.filter { !used.contains($0) }.map { acknowledgement in
            let element = chain.elements.dropFirst(acknowledgement.element - 1).first
            let label = element?.description ?? "An empty part"
            return Match(
                chain: chain,
                elements: element.map { [$0] } ?? [],
                message: "\(label) acknowledges \(acknowledgement.rule), which it doesn't break.",
                remedy: "it without .acknowledged(.\(acknowledgement.rule), …)"
            )
        }
    }
}

extension LintedChain {
    /// Whether an element inside the renewal adds the credential that it renews.
    func renewsInside(_ renewal: Element) -> Bool {
        let all = elements(inside: renewal, with: .addsCredentials)
        let credentials = all.filter { $0.requestOrigins?.isEmpty != true }
        if renewal.subject == nil { return !credentials.isEmpty }
        if credentials.contains(where: renewal.isOfSameObject) { return true }
        // An author's credential may be the renewed one, unless another token is sent in its place.
        return credentials.contains(where: renewal.renews)
            && !(elements(outside: renewal, with: .addsCredentials) + credentials).contains {
                $0.isToken && renewal.sharesOrigin(with: $0)
            }
    }

    /// Whether an element surely names the partition of the requests to which a credential is added.
    func isPartitioned(_ credential: Element, sharedBy sharing: Element) -> Bool {
        elements(outside: sharing, with: .namesPartition).contains {
            $0.namesPartition(of: credential, sharedBy: sharing)
        }
    }
}

extension LintedChain.Element {
    /// Whether the element adds the token of an object as `Authorization`.
    var isToken: Bool { self.subject != nil && self.secretFields.contains(.authorization) }

    /// Whether two elements surely have the credential or the account of the same object, such as a store.
    func isOfSameObject(as other: Self) -> Bool { self.subject != nil && self.subject == other.subject }

    /// Whether an element renews the credential of another, as far as both say what it comes from.
    func renews(_ credential: Self) -> Bool {
        self.subject == nil || isOfSameObject(as: credential)
            || credential.subject == nil && !credential.has(.answersChallenges)
    }

    /// The only origins whose requests get a credential; `nil` if they depend on the client.
    var requestOrigins: Set<Origin>? {
        ([self.origins] + parts.map(\.origins)).compactMap(\.self).reduce(nil) { $0?.intersection($1) ?? $1 }
    }

    /// Whether two credentials are surely for a common origin: that of the client, if they name none.
    func sharesOrigin(with other: Self) -> Bool {
        guard let origins = requestOrigins, let others = other.requestOrigins else {
            return requestOrigins == other.requestOrigins
        }
        return !origins.isDisjoint(with: others)
    }

    /// Whether the element surely names the partition of each shared request with a credential: its conditions hold for them.
    func namesPartition(of credential: Self, sharedBy sharing: Self) -> Bool {
        parts.allSatisfy { part in
            if isOfSameObject(as: credential), let origins = part.origins {
                return credential.origins?.isSubset(of: origins) ?? true
            }
            return (sharing.parts + credential.parts).contains { other in
                guard let origins = part.origins, let others = other.origins else { return part == other }
                return others.isSubset(of: origins)
            }
        }
    }

    /// The fields of the credential that a redirect to another host keeps, because their names don't look secret.
    func fieldsKept(by redirects: Self) -> [HTTPField.Name] {
        let always: [HTTPField.Name] = [.authorization, .proxyAuthorization, .cookie]
        let redaction = redirects.redaction ?? .standard
        return self.secretFields.filter { !always.contains($0) && !redaction.isSensitive($0.rawName) }
    }

    /// Whether the element turns a response with one of these statuses into an error; `nil` stands for any status.
    func rejects(anyOf statuses: Set<Int>?) -> Bool {
        statuses.flatMap { self.rejectedStatuses?.isDisjoint(with: $0) } != true
    }
}

extension Duration {
    /// The duration as an array of interceptors contains it: `.seconds(30)`.
    package var code: String {
        let (seconds, attoseconds) = components
        return attoseconds == 0 ? ".seconds(\(seconds))" : ".seconds(\(self / .seconds(1)))"
    }
}
