/// Partitions of shared responses, and fields that a redirect keeps.
extension ChainRuleDefinition {
    /// The element that names the partition of the requests to which `credential` is added; `nil` if no element surely does.
    static func partition(
        of credential: LintedChain.Element,
        sharedBy sharing: LintedChain.Element,
        _ chain: LintedChain
    ) -> LintedChain.Element? {
        chain.elements(outside: sharing, with: .namesPartition).first { names($0, of: credential, sharedBy: sharing) }
    }

    /// Whether an element surely names the partition of each shared request with a credential: its conditions hold for them.
    private static func names(
        _ partition: LintedChain.Element,
        of credential: LintedChain.Element,
        sharedBy sharing: LintedChain.Element
    ) -> Bool {
        let isOfSameStore = isOfSameStore(partition, credential)
        return partition.parts.allSatisfy { part in
            if isOfSameStore, let origins = part.origins {
                return credential.placement?.origins?.isSubset(of: origins) ?? true
            }
            return (sharing.parts + credential.parts).contains { other in
                guard let origins = part.origins, let others = other.origins else { return part == other }
                return others.isSubset(of: origins)
            }
        }
    }

    private static func isOfSameStore(_ partition: LintedChain.Element, _ credential: LintedChain.Element) -> Bool {
        guard let store = partition.placement?.subject else { return false }
        return credential.placement?.subject == store
    }

    /// Adds the remedy to a credential in a shared response that has no partition.
    static func unpartitioned(_ match: Match, _ chain: LintedChain) -> Match {
        var match = match
        let (sharing, credential) = (match.elements[0], match.elements[1])
        match.culprit = credential
        // A closure may name the partition.
        if chain.isUnjudged(outside: sharing) { match.doubt = .some }
        let partition =
            "[.partition(by: …), \(sharing.code), \(credential.code)], or name the account"
            + " (request.context.cachePartition = account.id) and acknowledge the rule"
        match.remedy =
            credential.has(.changesEachTime)
            ? partition : "[\(credential.code), \(sharing.code)], or \(partition)"
        return match
    }

    /// Credentials of a store in shared responses whose partition names the account of another store.
    static func foreignPartitions(_ chain: LintedChain) -> [Match] {
        chain.elements.filter { $0.has(.shares) }.flatMap { sharing in
            chain.elements.compactMap { credential -> Match? in
                guard credential.has(.awaitsRenewal), chain.meeting(of: sharing, credential) > .never,
                    let (partition, doubt) = foreignPartition(of: credential, sharedBy: sharing, chain)
                else { return nil }
                return Match(
                    elements: [partition, sharing, credential],
                    message: "\(partition.label) names the account of another store than \(credential.label).",
                    harm: "One user gets the response of another: the requests of both have the same partition.",
                    remedy: ".when(.origin(…), [.partition(by: …)]) for each store",
                    doubt: doubt,
                    culprit: credential
                )
            }
        }
    }

    /// The outermost element that names the account of another store as the partition; `nil` if the credential's own store names
    /// it. A condition that isn't an origin may hold for requests with the credential.
    private static func foreignPartition(
        of credential: LintedChain.Element,
        sharedBy sharing: LintedChain.Element,
        _ chain: LintedChain
    ) -> (LintedChain.Element, Doubt)? {
        for partition in chain.elements(outside: sharing, with: .namesPartition)
        where chain.meeting(of: partition, credential) > .never {
            let isSure = names(partition, of: credential, sharedBy: sharing)
            let isForeign = partition.placement?.subject != nil && !isOfSameStore(partition, credential)
            if isForeign, isSure { return (partition, .none) }
            if isForeign, partition.parts.contains(where: { $0.origins == nil }) { return (partition, .some) }
            if isSure { return nil }
        }
        return nil
    }

    /// The fields of a credential that a redirect to another host keeps, because their names don't look secret.
    static func unremovedFields(
        of credential: LintedChain.Element,
        _ redirects: LintedChain.Element
    ) -> [HTTPField.Name] {
        let redaction = redirects.placement?.redaction ?? .standard
        let always: [HTTPField.Name] = [.authorization, .proxyAuthorization, .cookie]
        return (credential.placement?.secretFields ?? []).filter {
            !always.contains($0) && !redaction.isSensitive($0.rawName)
        }
    }

    /// Credentials outside an element that follows redirects, and sends them to other hosts.
    static func unremovedFields(_ chain: LintedChain) -> [Match] {
        pairs(.addsCredentials, outside: .followsRedirects)(chain).compactMap { match in
            let (credential, redirects) = (match.elements[0], match.elements[1])
            guard let name = unremovedFields(of: credential, redirects).first else { return nil }
            var match = match
            match.message = "\(redirects.label) sends the field \(name.rawName) of \(credential.label) to other hosts."
            match.remedy =
                "[\(redirects.code), \(credential.code)], where \(credential.name) adds the field for its own hosts only"
            match.culprit = credential
            return match
        }
    }

    /// Credentials in a part for other origins than that of an element that follows redirects: a redirect to the credential's
    /// origin begins inside of the credential.
    static func redirectsPastCredentials(_ chain: LintedChain) -> [Match] {
        chain.elements.filter { $0.has(.addsCredentials) && !$0.has(.keepsCookies) }.flatMap { credential in
            chain.elements[credential.number...].compactMap { redirects -> Match? in
                guard redirects.has(.followsRedirects), chain.meeting(of: credential, redirects) == .never else {
                    return nil
                }
                return Match(elements: [credential, redirects], doubt: .some)
            }
        }
    }
}
