#if DEBUG
extension ChainRuleDefinition {
    /// The conditions of rows. Each returns whether the match is a fault, and may give it a detail, other texts or a doubt.
    static let conditions: [String: @Sendable (inout Match) -> Bool] = [
        "isOfSameObject": { $0.inner.isOfSameObject(as: $0.outer) },
        "isRenewedOutside": {
            !$0.inner.isOfSameObject(as: $0.outer) && $0.inner.renews($0.outer) && !$0.chain.renewsInside($0.inner)
        },
        "isOtherToken": isOtherToken,
        // Outside, a fixed field comes first; inside, only a forced one replaces the token.
        "hidesInner": { $0.outer.hides($0.inner) },
        "hidesOuter": { $0.inner.hides($0.outer) },
        "isUnrenewed": isUnrenewed,
        "isUnpartitioned": isUnpartitioned,
        "hasForeignPartition": hasForeignPartition,
        "isForAnyHost": { match in
            // The part's condition may look at the host.
            if match.inner.parts.count > match.outer.parts.count { match.doubt = 1 }
            return match.inner.parts.allSatisfy { $0.origins == nil }
        },
        "keepsField": { match in
            let name = match.outer.fieldsKept(by: match.inner).first?.rawName
            match.detail = name ?? ""
            return name != nil
        },
        // Another rule reports fields that a redirect keeps.
        "dropsField": { $0.outer.fieldsKept(by: $0.inner).isEmpty },
        "isForSameOutcome": { match in
            let (outer, inner) = (match.outer.statuses, match.inner.statuses)
            if let outer, inner?.isDisjoint(with: outer) == true { match.doubt = 2 }
            return true
        },
        "opensByOneCall": { match in
            guard let attempts = match.outer.attempts, let failures = match.inner.failures else { return false }
            match.fault.message = "#2 opens after \(failures) failures, and #1 may add \(attempts)."
            match.fault.remedy = ".circuitBreaker(.consecutiveFailures(\(2 * attempts)))"
            return failures <= attempts
        },
        "innerNeverActs": { match in
            guard let outer = match.outer.limit, let inner = match.inner.limit, inner >= outer,
                match.inner.parts.starts(with: match.outer.parts)
            else { return false }
            if inner == outer { match.fault.remedy = "the chain without #2" }
            if !match.between.contains(where: { $0.has(.resends) }) {
                match.fault.harm = "The outer limit ends each call first, so the inner one has no effect."
            }
            return true
        },
        "rejectsRead": { $0.rejects($0.outer.statuses) },
        // The plain form lets a 304 pass that the cache asked for.
        "rejectsStored": { $0.inner.statuses?.contains(304) != true && $0.rejects([304, 404]) },
        "rejectsRevalidation": { $0.inner.statuses?.contains(304) == true && $0.rejects([304, 404]) },
        "rejectsCookies": { $0.rejects([302, 401, 403]) },
        "showsField": { match in
            guard let redaction = match.inner.redaction else { return false }
            let names = match.outer.secretFields.map(\.rawName).filter { !redaction.isSensitive($0) }
            match.detail = names.joined(separator: ", ")
            match.fault.remedy = ".@2(redaction: .standard.adding(names: \(names)))"
            return !names.isEmpty
        },
        "isNextLog": { match in
            match.detail = match.doubt == 0 ? "" : ", if a request meets the conditions of both"
            return match.between.allSatisfy { $0.has(.logs) || $0.has(.measures) }
        },
        "isUnlogged": { $0.chain.elements(inside: $0.inner, with: .logs).isEmpty },
        "isIdle": { match in
            guard let (reason, remedy) = match.elements[0].idleness else { return false }
            (match.detail, match.fault.remedy) = (reason, remedy)
            return true
        },
        "isAgainstWish": { match in
            let (outer, inner) = (match.outer, match.inner)
            let late = outer.wishes.first { $0.isInside && inner.has($0.role) }
            let early = inner.wishes.first { !$0.isInside && outer.has($0.role) }
            guard let wish = late ?? early else { return false }
            let (name, side) = late == nil ? (inner.name, "outside") : (outer.name, "inside")
            match.detail = wish.reason ?? "\(name) belongs \(side) interceptors with the role \(wish.role)."
            match.fault.harm = "*"
            return true
        },
    ]
}

extension ChainRuleDefinition {
    /// Whether two tokens are for the same requests, which get the outer one only.
    @Sendable private static func isOtherToken(_ match: inout Match) -> Bool {
        if !match.outer.isConstant {
            match.doubt = 1
            match.fault.harm = "The inner token is sent only while the outer one is missing, such as after a sign-out."
        }
        return !match.inner.isOfSameObject(as: match.outer) && match.elements.allSatisfy(\.isToken)
            && match.outer.sharesOrigin(with: match.inner)
    }

    /// Whether no element surely names the partition of shared requests to which a credential is added.
    @Sendable private static func isUnpartitioned(_ match: inout Match) -> Bool {
        let (sharing, credential) = (match.outer, match.inner)
        // An element that isn't judged may name the partition.
        let outer = match.chain.elements[..<(sharing.number - 1)]
        if outer.contains(where: { !$0.isJudged }) { match.doubt = 1 }
        return !match.chain.elements(outside: sharing, with: .namesPartition).contains {
            $0.namesPartition(of: credential, sharedBy: sharing)
        }
    }

    /// Whether no element inside a renewal adds the credential.
    @Sendable private static func isUnrenewed(_ match: inout Match) -> Bool {
        let (chain, renewal) = (match.chain, match.elements[0])
        // The other rule explains the order.
        let isOutside = chain.elements(outside: renewal, with: .addsCredentials).contains(where: renewal.renews)
        if isOutside || chain.renewsInside(renewal) { return false }
        let isOfStore = renewal.subject != nil
        if isOfStore { match.fault.remedy = "[<1>, .bearerAuth(…)] with the same store" }
        let mayBeRenewed = chain.elements[renewal.number...].contains { element in
            // Elements that aren't judged and closures may add the credential.
            !element.isJudged || element.has(.mayAddCredentials)
                || element.has(.addsCredentials) && chain.doubt(that: renewal, meets: element) != nil
                    && element.subject == nil && renewal.renews(element)
        }
        // For a store's token, `bearerAuth` is the usual way.
        if mayBeRenewed { match.doubt = isOfStore ? 1 : 2 }
        return true
    }

    /// Whether the partition of shared responses with the credential of a store names the account of another store.
    @Sendable private static func hasForeignPartition(_ match: inout Match) -> Bool {
        let isInside = match.inner.has(.awaitsRenewal)
        let (sharing, credential) = isInside ? (match.outer, match.inner) : (match.inner, match.outer)
        for partition in match.chain.elements(outside: sharing, with: .namesPartition)
        where match.chain.doubt(that: partition, meets: credential) != nil {
            let isSure = partition.namesPartition(of: credential, sharedBy: sharing)
            let isForeign = partition.subject != nil && !partition.isOfSameObject(as: credential)
            // A condition that isn't an origin may hold for requests with the credential.
            if isForeign, isSure || partition.parts.contains(where: { $0.origins == nil }) {
                match.elements = [partition, sharing, credential]
                match.doubt = isSure ? 0 : 1
                return true
            }
            if isSure { return false }
        }
        return false
    }
}

extension ChainRuleDefinition.Match {
    /// Whether the inner element turns a response with one of these statuses into an error; `nil` stands for any status.
    fileprivate mutating func rejects(_ statuses: Set<Int>?) -> Bool {
        // The linter doesn't call a closure that validates, and it may accept the statuses.
        if inner.has(.validatesByClosure) { doubt = 1 }
        return statuses.flatMap { inner.statuses?.isDisjoint(with: $0) } != true
    }
}

extension LintedChain {
    /// Whether an element inside the renewal adds the credential that it renews.
    fileprivate func renewsInside(_ renewal: Element) -> Bool {
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
}

extension LintedChain.Element {
    /// Whether the element adds the token of an object as `Authorization`.
    fileprivate var isToken: Bool { self.subject != nil && self.secretFields.contains(.authorization) }

    /// Whether two elements surely have the credential or the account of the same object, such as a store.
    fileprivate func isOfSameObject(as other: LintedChain.Element) -> Bool {
        self.subject != nil && self.subject == other.subject
    }

    /// Whether an element renews the credential of another, as far as both say what it comes from.
    fileprivate func renews(_ credential: LintedChain.Element) -> Bool {
        self.subject == nil || isOfSameObject(as: credential)
            || credential.subject == nil && !credential.has(.answersChallenges)
    }

    /// Whether the element, with a fixed `Authorization`, surely hides a token: both are for the same requests.
    fileprivate func hides(_ token: LintedChain.Element) -> Bool {
        token.secretFields.contains(.authorization) && (requestOrigins == nil || sharesOrigin(with: token))
    }

    /// The only origins whose requests get a credential; `nil` if they depend on the client.
    fileprivate var requestOrigins: Set<Origin>? {
        ([self.origins] + parts.map(\.origins)).compactMap(\.self).reduce(nil) { $0?.intersection($1) ?? $1 }
    }

    /// Whether two credentials are surely for a common origin: that of the client, if they name none.
    fileprivate func sharesOrigin(with other: LintedChain.Element) -> Bool {
        guard let origins = requestOrigins, let others = other.requestOrigins else {
            return requestOrigins == other.requestOrigins
        }
        return !origins.isDisjoint(with: others)
    }

    /// Whether the element surely names the partition of each shared request with a credential: its conditions hold for them.
    fileprivate func namesPartition(of credential: LintedChain.Element, sharedBy sharing: LintedChain.Element) -> Bool {
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
    fileprivate func fieldsKept(by redirects: LintedChain.Element) -> [HTTPField.Name] {
        let always: [HTTPField.Name] = [.authorization, .proxyAuthorization, .cookie]
        let redaction = redirects.redaction ?? .standard
        return self.secretFields.filter { !always.contains($0) && !redaction.isSensitive($0.rawName) }
    }
}
#endif
